'use strict';

const rules = require('../rules.json');

const SAMPLE = new Set(['test', 'tests', '__tests__', 'demo', 'demos', 'example', 'examples', 'fixture', 'fixtures']);
const FOREIGN = new Set(['vendor', 'node_modules', 'third_party']);
const OUTSIDE = new Set(['request', 'upload', 'webhook', 'job', 'ci']);

function covers(pattern, host) {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

function inScope({ asset, entries }, scope) {
  const host = asset.toLowerCase();
  if (scope.excluded.some((pattern) => covers(pattern, host))) return false;
  if (!scope.hosts.some((pattern) => covers(pattern, host))) return false;
  return scope.pipelines || !entries.every((entry) => entry === 'ci');
}

const folders = (path) => path.toLowerCase().split('/').slice(0, -1);

function isSample(path) {
  return folders(path).some((folder) => SAMPLE.has(folder)) || /\.(test|spec)\.[a-z]+$/i.test(path);
}

function reachable({ entries }) {
  return entries.some((entry) => OUTSIDE.has(entry));
}

/** The checks in the order of why.json. */
const CHECKS = [
  ['out-of-scope', (finding, { scope }) => !inScope(finding, scope)],
  ['duplicate', (finding, { seen, place }) => finding.advisory !== null || seen.has(place)],
  ['sample-code', ({ path }) => isSample(path)],
  ['vendored', ({ path }) => folders(path).some((folder) => FOREIGN.has(folder))],
  ['not-reachable', (finding, { scope }) => !reachable(finding)],
  ['not-user-controlled', ({ input }) => input === 'constant' || input === 'operator'],
  ['self-only', ({ trigger }) => trigger === 'paste'],
  ['low-signal', ({ rule, impact }) => (rule === 'missing-header' || rule === 'rate-limit') && !impact],
];

function triage(findings, scope) {
  const keep = [];
  const drop = [];
  const seen = new Set();
  for (const finding of findings) {
    const place = JSON.stringify([finding.rule, finding.path, finding.line]);
    const hit = CHECKS.find(([, applies]) => applies(finding, { scope, seen, place }));
    seen.add(place);
    if (hit) drop.push({ id: finding.id, why: hit[0] });
    else keep.push({ id: finding.id, cwe: rules[finding.rule] });
  }
  return { keep, drop };
}

module.exports = { triage };
