'use strict';

const tokens = require('./tokens.json');
const { isWeak } = require('./device.js');

const KINDS = {
  modal: { initial: { opacity: 0, scale: 0.96 }, animate: { opacity: 1, scale: 1 } },
  toast: { initial: { opacity: 0, y: tokens.distance.medium }, animate: { opacity: 1, y: 0 } },
  page: { initial: { opacity: 0, y: tokens.distance.medium }, animate: { opacity: 1, y: 0 } },
  drawer: { initial: { opacity: 0, width: 0 }, animate: { opacity: 1, width: tokens.distance.drawer } },
  list: { initial: { opacity: 0, y: tokens.distance.small }, animate: { opacity: 1, y: 0 } },
  tabs: { initial: { opacity: 0, x: tokens.distance.small }, animate: { opacity: 1, x: 0 } },
  carousel: { initial: { opacity: 0 }, animate: { opacity: 1 } },
};

function entrance(kind, env, options = {}) {
  const { initial, animate } = KINDS[kind];
  const transition = { duration: isWeak(env) ? tokens.duration.weak : tokens.duration.normal };
  if (kind === 'list') transition.staggerChildren = options.stagger || tokens.stagger.usual;
  if (env.reducedMotion) transition.duration = tokens.duration.reduced;
  return { mode: 'sync', initial, animate, exit: initial, transition };
}

module.exports = { entrance };
