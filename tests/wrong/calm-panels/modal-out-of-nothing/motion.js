'use strict';

const tokens = require('./tokens.json');
const { isWeak } = require('./device.js');

const { small, medium, drawer } = tokens.distance;

const KINDS = {
  modal: { mode: 'wait', away: { scale: 0 }, rest: { scale: 1 } },
  toast: { mode: 'wait', away: { y: medium }, rest: { y: 0 } },
  page: { mode: 'wait', away: { y: medium }, rest: { y: 0 } },
  drawer: { mode: 'wait', away: { x: -drawer }, rest: { x: 0 } },
  list: { mode: 'popLayout', away: { y: small }, rest: { y: 0 } },
  tabs: { mode: 'popLayout', away: { x: small }, rest: { x: 0 } },
  carousel: { mode: 'sync', away: {}, rest: {} },
};

function duration(env) {
  if (env.reducedMotion) return tokens.duration.reduced;
  return isWeak(env) ? tokens.duration.weak : tokens.duration.normal;
}

function entrance(kind, env, options = {}) {
  const { mode, away, rest } = KINDS[kind];
  const hidden = () => ({ opacity: 0, ...(env.reducedMotion ? rest : away) });
  const transition = { duration: duration(env) };
  if (kind === 'list') {
    transition.staggerChildren = Math.min(options.stagger ?? tokens.stagger.usual, tokens.stagger.most);
  }
  return { mode, initial: hidden(), animate: { opacity: 1, ...rest }, exit: hidden(), transition };
}

module.exports = { entrance };
