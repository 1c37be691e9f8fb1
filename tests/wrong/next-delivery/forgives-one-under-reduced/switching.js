'use strict';

const plan = require('./plan.json');

// results: what was found since the level changed, newest last.
const enter = (level) => ({ level, results: [] });

function start(supplier) {
  return enter(plan.established.includes(supplier) ? 'normal' : 'tightened');
}

function acceptedInARow(results) {
  return results.length - 1 - results.lastIndexOf('rejected');
}

function afterLot({ level, results: before }, result) {
  const results = [...before, result];
  const run = acceptedInARow(results);
  const forgiven = before.slice(-plan.tighten.of).filter((found) => found === 'accepted').length === plan.tighten.of;
  if (level === 'reduced') return result === 'rejected' && !forgiven ? enter('normal') : { level, results };
  if (level === 'tightened') return run >= plan.relax.acceptedInARow ? enter('normal') : { level, results };
  const rejected = results.slice(-plan.tighten.of).filter((found) => found === 'rejected').length;
  if (rejected >= plan.tighten.rejected) return enter('tightened');
  return run >= plan.reduce.acceptedInARow ? enter('reduced') : { level, results };
}

function after(state, event) {
  if (event.type === 'complaint') return event.traced ? enter('tightened') : state;
  return afterLot(state, event.result);
}

function run(events) {
  const states = new Map();
  const lots = [];
  for (const event of events) {
    const { supplier, lot } = event;
    const state = states.get(supplier) || start(supplier);
    if (event.type === 'lot') lots.push({ supplier, lot, level: state.level });
    states.set(supplier, after(state, event));
  }
  return { states, lots };
}

function replay(events) {
  return run(events).lots;
}

function nextLevels(events) {
  return Object.fromEntries([...run(events).states].map(([supplier, state]) => [supplier, state.level]));
}

module.exports = { replay, nextLevels };
