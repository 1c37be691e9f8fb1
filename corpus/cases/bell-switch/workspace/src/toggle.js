'use strict';

/**
 * The bell's switches on the page.
 *
 * A switch shows its new position at once and is saved meanwhile. People are quick: they may flip another switch, or the
 * same one again, while the first is still being saved.
 *
 * @param {object} profile as the page got it; not to be changed
 * @param {(kind: string, on: boolean) => Promise<void>} save saves one switch; rejects if that failed
 */
function createToggle(profile, save) {
  let settings = profile.notification_settings;
  return {
    /** The settings as they show now: an object, or null as long as there are none. */
    settings: () => settings,
    /** Resolves with whether it was saved. */
    async flip(kind) {
      const on = !(settings && settings[kind]);
      settings = { ...settings, [kind]: on };
      await save(kind, on);
      return true;
    },
  };
}

module.exports = { createToggle };
