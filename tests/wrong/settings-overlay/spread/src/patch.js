'use strict';

function apply(settings, change) {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) throw new TypeError('no object');
  const answer = structuredClone({ ...settings, ...change });
  for (const key of Object.keys(answer)) if (answer[key] === null) delete answer[key];
  return answer;
}

module.exports = { apply };
