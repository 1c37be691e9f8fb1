'use strict';

const tokens = require('./tokens.json');
const { isWeak } = require('./device.js');

const WAITING = new Set(['modal', 'toast', 'page', 'drawer']);

function offset(kind) {
  switch (kind) {
    case 'modal':
      return { scale: 0.96 };
    case 'drawer':
      return { scaleX: 0.01 };
    case 'tabs':
      return { x: tokens.distance.small };
    case 'list':
      return { y: tokens.distance.small };
    case 'carousel':
      return {};
    default:
      return { y: tokens.distance.medium };
  }
}

function modeOf(kind) {
  if (WAITING.has(kind)) return 'wait';
  return kind === 'carousel' ? 'sync' : 'popLayout';
}

exports.entrance = function entrance(kind, env, { stagger = tokens.stagger.usual } = {}) {
  const gone = Object.assign({ opacity: 0 }, env.reducedMotion === true ? null : offset(kind));
  let pace = 'normal';
  if (isWeak(env)) pace = 'weak';
  if (env.reducedMotion) pace = 'reduced';
  const result = { mode: modeOf(kind), initial: gone, animate: { opacity: 1 }, exit: { ...gone }, transition: { duration: tokens.duration[pace] } };
  if (kind === 'list') result.transition.staggerChildren = stagger > tokens.stagger.most ? tokens.stagger.most : stagger;
  return result;
};
