'use strict';

function createToggle(profile, save) {
  let settings = profile.notification_settings;
  let saved = settings;
  return {
    settings: () => settings,
    async flip(kind) {
      const on = !(settings && settings[kind]);
      settings = { ...settings, [kind]: on };
      try {
        await save(kind, on);
        saved = { ...saved, [kind]: on };
        return true;
      } catch {
        settings = saved;
        return false;
      }
    },
  };
}

module.exports = { createToggle };
