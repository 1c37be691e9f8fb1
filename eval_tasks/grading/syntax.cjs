'use strict';
// Owns what the corpus proof asks about the syntax of JavaScript: which drivers compare, and where a solution can be
// mutated. It must never run the code that it reads. Usage: node syntax.cjs ACORN < question.json > answer.json

const acorn = require(process.argv[2]);

const COMPARISONS = new Set(['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'instanceof', 'in']);
const EQUALITIES = new Set(['is', 'isDeepStrictEqual', 'equals']);
const SWAPS = {
  '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '==': '!=', '!=': '==',
  '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '&&': '||', '||': '&&', '??': '&&',
  '+=': '-=', '-=': '+=', '*=': '/=', '++': '--', '--': '++',
};

function children(node) {
  return Object.values(node).flat().filter((value) => value && typeof value.type === 'string');
}

function parse(text) {
  return acorn.parse(text, { ecmaVersion: 'latest', sourceType: 'script', allowReturnOutsideFunction: true, allowHashBang: true });
}

// Drivers

function returned(node) {
  if (/Function/.test(node.type)) return [];
  if (node.type === 'ReturnStatement') return node.argument ? [node.argument] : [];
  return children(node).flatMap(returned);
}

function compares(node) {
  switch (node.type) {
    case 'AwaitExpression':
      return compares(node.argument);
    case 'BinaryExpression':
      return COMPARISONS.has(node.operator);
    case 'UnaryExpression':
      return node.operator === '!';
    case 'LogicalExpression':
      return compares(node.left) && compares(node.right);
    case 'ConditionalExpression':
      return compares(node.consequent) && compares(node.alternate);
    case 'Literal':
      return typeof node.value === 'boolean';
    case 'CallExpression':
      return node.callee.type === 'MemberExpression' && EQUALITIES.has(node.callee.property.name);
    default:
      return false;
  }
}

function isComparing(source) {
  const driver = parse(`(${source}\n)`).body[0].expression;
  const values = driver.body.type === 'BlockStatement' ? children(driver.body).flatMap(returned) : [driver.body];
  return values.length > 0 && values.every(compares);
}

// Mutants

function* sites(node, text, parent) {
  if (node.type === 'CallExpression' && node.callee.name === 'require') return;
  if (node.type === 'ExpressionStatement' && node.directive) return;
  const swap = SWAPS[node.operator];
  if (swap && node.left) yield operator(text, node.left.end, node.right.start, node.operator, swap);
  else if (swap && node.type === 'UpdateExpression') yield { ...around(node, text, node.operator, swap) };
  if (node.type === 'UnaryExpression' && node.operator === '!') yield { start: node.start, end: node.argument.start, text: '' };
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') yield negated(node.test, text);
  if (node.type === 'Literal' && !isName(node, parent)) yield* literal(node);
  for (const child of children(node)) yield* sites(child, text, node);
}

function operator(text, from, to, old, swap) {
  const start = from + text.slice(from, to).indexOf(old);
  return { start, end: start + old.length, text: swap };
}

function around(node, text, old, swap) {
  return operator(text, node.prefix ? node.start : node.argument.end, node.end, old, swap);
}

function negated(test, text) {
  return { start: test.start, end: test.end, text: `!(${text.slice(test.start, test.end)})` };
}

function isName(node, parent) {
  return parent.type === 'Property' && parent.key === node && !parent.computed;
}

function* literal(node) {
  const { start, end, value } = node;
  if (typeof value === 'number') yield { start, end, text: String(value + 1) };
  if (typeof value === 'boolean') yield { start, end, text: String(!value) };
  // A text with a space is prose for people, which no grader should pin.
  if (typeof value === 'string' && value !== '' && !value.includes(' ')) yield { start, end, text: "''" };
}

function mutants(text) {
  const seen = new Map();
  for (const site of sites(parse(text), text, {})) seen.set(`${site.start} ${site.end} ${site.text}`, site);
  return [...seen.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

const question = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const answer = {
  comparing: question.drivers.map(isComparing),
  mutants: question.modules.map(mutants),
};
process.stdout.write(JSON.stringify(answer));
