'use strict';

const cweOf = require('../rules.json');

const SAMPLE_PATH = /(^|\/)(__)?(tests?|specs?|demos?|examples?|samples?|fixtures?)(__)?\/|\.(test|spec)\.\w+$/i;
const FOREIGN_PATH = /(^|\/)(vendor|node_modules|third[-_]party)\//i;

/** One host pattern as a regular expression; only a leading star is special. */
function hostPattern(text) {
  const literal = text.replace(/^\*/, '').replace(/[.\\^$|?+()[\]{}]/g, '\\$&');
  return new RegExp(text.startsWith('*') ? `.${literal}$` : `^${literal}$`, 'i');
}

function reasonAgainst(finding, scope, earlier) {
  const matches = (list) => list.map(hostPattern).some((pattern) => pattern.test(finding.asset));
  const remote = finding.entries.filter((entry) => !['cli', 'local', 'ci'].includes(entry));
  const pipeline = finding.entries.includes('ci');

  if (matches(scope.excluded) || !matches(scope.hosts)) return 'out-of-scope';
  if (pipeline && finding.entries.length === 1 && !scope.pipelines) return 'out-of-scope';
  if (finding.advisory || earlier.some(({ rule, path, line }) => rule === finding.rule && path === finding.path && line === finding.line)) {
    return 'duplicate';
  }
  if (SAMPLE_PATH.test(finding.path)) return 'sample-code';
  if (FOREIGN_PATH.test(finding.path)) return 'vendored';
  if (remote.length === 0 && !(pipeline && scope.pipelines)) return 'not-reachable';
  if (['constant', 'operator'].includes(finding.input)) return 'not-user-controlled';
  if (finding.trigger === 'paste') return 'self-only';
  if (['missing-header', 'rate-limit'].includes(finding.rule) && finding.impact === null) return 'low-signal';
  return null;
}

exports.triage = (findings, scope) => {
  const judged = findings.map((finding, index) => ({
    id: finding.id,
    cwe: cweOf[finding.rule],
    why: reasonAgainst(finding, scope, findings.slice(0, index)),
  }));
  return {
    keep: judged.filter(({ why }) => why === null).map(({ id, cwe }) => ({ id, cwe })),
    drop: judged.filter(({ why }) => why !== null).map(({ id, why }) => ({ id, why })),
  };
};
