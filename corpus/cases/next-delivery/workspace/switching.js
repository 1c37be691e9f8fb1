'use strict';

const plan = require('./plan.json');

function start(supplier) {
  return { level: plan.established.includes(supplier) ? 'normal' : 'tightened', accepted: 0, rejected: 0 };
}

function step(state, event) {
  if (event.type !== 'lot') return state;
  if (event.result === 'accepted') state.accepted += 1;
  else state.rejected += 1;
  if (state.rejected >= plan.tighten.rejected) state.level = 'tightened';
  if (state.accepted >= plan.relax.acceptedInARow) state.level = 'normal';
  if (state.accepted >= plan.reduce.acceptedInARow) state.level = 'reduced';
  return state;
}

function run(events) {
  const states = {};
  const lots = [];
  for (const event of events) {
    const state = states[event.supplier] || (states[event.supplier] = start(event.supplier));
    if (event.type === 'lot') lots.push({ supplier: event.supplier, lot: event.lot, level: state.level });
    step(state, event);
  }
  return { states, lots };
}

function replay(events) {
  return run(events).lots;
}

function nextLevels(events) {
  const { states } = run(events);
  return Object.fromEntries(Object.entries(states).map(([supplier, state]) => [supplier, state.level]));
}

module.exports = { replay, nextLevels };
