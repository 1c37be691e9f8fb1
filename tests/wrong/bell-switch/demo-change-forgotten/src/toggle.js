'use strict';

function createToggle(profile, save) {
  let saved = profile.notification_settings;
  const wanted = new Map();
  return {
    settings: () => {
      if (wanted.size === 0) return saved;
      return { ...saved, ...Object.fromEntries([...wanted].map(([kind, flip]) => [kind, flip.on])) };
    },
    async flip(kind) {
      const shown = wanted.has(kind) ? wanted.get(kind).on : Boolean(saved && saved[kind]);
      const flip = { on: !shown };
      wanted.set(kind, flip);
      let done = true;
      try {
        await save(kind, flip.on);
        saved = { ...saved, [kind]: flip.on };
      } catch {
        done = false;
      }
      // Only the latest flip of a switch decides when it stops showing what is wanted.
      if (wanted.get(kind) === flip) wanted.delete(kind);
      return done;
    },
  };
}

module.exports = { createToggle };
