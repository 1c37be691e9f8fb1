'use strict';

const rules = require('../rules.json');

/** Split findings into those worth a report and the rest, see README.md. */
function triage(findings, scope) {
  const keep = [];
  const drop = [];
  for (const finding of findings) {
    if (!scope.hosts.includes(finding.asset)) {
      drop.push({ id: finding.id, why: 'out-of-scope' });
    } else if (finding.path.includes('test')) {
      drop.push({ id: finding.id, why: 'sample-code' });
    } else if (finding.severity === 'critical' || finding.severity === 'high') {
      keep.push({ id: finding.id, cwe: rules[finding.rule] });
    } else {
      drop.push({ id: finding.id, why: 'low-signal' });
    }
  }
  return { keep, drop };
}

module.exports = { triage };
