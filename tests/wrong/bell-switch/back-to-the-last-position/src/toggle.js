'use strict';

function createToggle(profile, save) {
  let settings = profile.notification_settings;
  return {
    settings: () => settings,
    async flip(kind) {
      const before = settings;
      const on = !(settings && settings[kind]);
      settings = { ...settings, [kind]: on };
      try {
        await save(kind, on);
        return true;
      } catch {
        settings = before === null ? null : { ...settings, [kind]: before[kind] };
        return false;
      }
    },
  };
}

module.exports = { createToggle };
