'use strict';

/** The config as sections: a command at the margin and the indented commands below it. */
function sectionsOf(config) {
  const sections = [];
  config.split(/\r?\n/).forEach((text, index) => {
    const words = text.trim().split(/\s+/);
    const command = { line: index + 1, words };
    if (text.trim() === '' || words[0].startsWith('!')) return;
    if (/^\s/.test(text) && sections.length > 0) sections[sections.length - 1].body.push(command);
    else sections.push({ ...command, body: [] });
  });
  return sections;
}

const startsWith = ({ words }, ...start) => start.every((word, index) => words[index] === word);

function vtyIssues(section) {
  const codes = [];
  const inputs = section.body.filter((command) => startsWith(command, 'transport', 'input'));
  if (inputs.some(({ words }) => words.includes('telnet') || words.includes('all'))) codes.push('vty-telnet');
  const filtered = section.body.some((command) => startsWith(command, 'access-class') && command.words[2] === 'in');
  if (!filtered) codes.push('vty-no-filter');
  if (!section.body.some((command) => startsWith(command, 'exec-timeout'))) codes.push('vty-no-timeout');
  return codes.map((code) => ({ line: section.line, code }));
}

const toNumber = (dotted) => dotted.split('.').reduce((number, part) => number * 256 + Number(part), 0);

function addressesOf(sections) {
  const found = [];
  for (const section of sections.filter((each) => startsWith(each, 'interface'))) {
    for (const { line, words } of section.body.filter((command) => startsWith(command, 'ip', 'address'))) {
      if (!/^\d+\.\d+\.\d+\.\d+$/.test(words[2])) continue;
      const address = toNumber(words[2]);
      const size = 2 ** 32 - toNumber(words[3]);
      const first = address - (address % size);
      found.push({ line, address, first, last: first + size - 1 });
    }
  }
  return found;
}

function addressIssues(sections) {
  const issues = [];
  const earlier = [];
  for (const each of addressesOf(sections)) {
    if (earlier.some((other) => other.address === each.address)) {
      issues.push({ line: each.line, code: 'address-twice' });
    } else if (earlier.some((other) => other.first <= each.last && each.first <= other.last)) {
      issues.push({ line: each.line, code: 'networks-overlap' });
    }
    earlier.push(each);
  }
  return issues;
}

function definitionsOf(sections) {
  const defined = { list: new Set(), prefix: new Set(), map: new Set() };
  for (const section of sections) {
    const { words } = section;
    if (startsWith(section, 'access-list')) defined.list.add(words[1]);
    if (startsWith(section, 'ip', 'access-list')) defined.list.add(words[3]);
    if (startsWith(section, 'ip', 'prefix-list')) defined.prefix.add(words[2]);
    if (startsWith(section, 'route-map')) defined.map.add(words[1]);
  }
  return defined;
}

/** What a command refers to, as [kind, name] pairs. */
function referencesOf(command) {
  const { words } = command;
  if (startsWith(command, 'access-class')) return [['list', words[1]]];
  if (startsWith(command, 'ip', 'access-group')) return [['list', words[2]]];
  if (startsWith(command, 'match', 'ip', 'address', 'prefix-list')) return [['prefix', words[4]]];
  if (startsWith(command, 'match', 'ip', 'address')) return [['list', words[3]]];
  if (startsWith(command, 'ip', 'policy', 'route-map')) return [['map', words[3]]];
  if (startsWith(command, 'neighbor') && words[2] === 'prefix-list') return [['prefix', words[3]]];
  if (startsWith(command, 'neighbor') && words[2] === 'route-map') return [['map', words[3]]];
  return [];
}

function referenceIssues(sections) {
  const defined = definitionsOf(sections);
  return sections
    .flatMap(({ body }) => body)
    .filter((command) => referencesOf(command).some(([kind, name]) => !defined[kind].has(name)))
    .map(({ line }) => ({ line, code: 'undefined' }));
}

function audit(config) {
  const sections = sectionsOf(config);
  const issues = [
    ...sections.filter((section) => startsWith(section, 'line', 'vty')).flatMap(vtyIssues),
    ...addressIssues(sections),
    ...referenceIssues(sections),
  ];
  return issues.sort((a, b) => a.line - b.line || (a.code < b.code ? -1 : 1));
}

module.exports = { audit };
