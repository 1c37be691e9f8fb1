'use strict';

/** Keeps what is saved, and the flips that are still under way, oldest first. */
function createToggle(profile, save) {
  let confirmed = profile.notification_settings;
  let pending = [];

  const settings = () =>
    pending.reduce((shown, { kind, on }) => Object.assign({}, shown, { [kind]: on }), confirmed);

  function flip(kind) {
    const now = settings();
    const change = { kind, on: !(now && now[kind]) };
    pending = pending.concat(change);
    const settle = () => {
      pending = pending.filter((each) => each !== change);
    };
    return save(kind, change.on).then(
      () => {
        confirmed = Object.assign({}, confirmed, { [kind]: change.on });
        settle();
        return true;
      },
      () => {
        settle();
        return false;
      },
    );
  }

  return { settings, flip };
}

module.exports = { createToggle };
