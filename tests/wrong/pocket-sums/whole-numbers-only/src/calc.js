'use strict';

const TOKEN = /(?<number>\d+(?:\.\d+)?)|(?<name>[a-z][a-z0-9]*)|(?<sign>[-+*/^()])|(?<blank>\s)|(?<odd>.)/gsu;

function mistake(Kind, message, position) {
  return Object.assign(new Kind(`${message} (position ${position})`), { position });
}

function tokenise(text) {
  const tokens = [];
  for (const { 0: word, index: position, groups } of text.matchAll(TOKEN)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    if (kind !== 'blank') tokens.push({ kind, word, position });
  }
  return [...tokens, { kind: 'end', word: null, position: text.length }];
}

/** Reads tokens into functions that compute when they are given the values. */
function read(tokens) {
  let at = 0;

  const refuse = () => mistake(SyntaxError, 'This cannot stand here', tokens[at].position);
  const isSign = (...words) => tokens[at].kind === 'sign' && words.includes(tokens[at].word);

  function take(word) {
    if (tokens[at].word !== word) throw refuse();
    at += 1;
  }

  function value() {
    const { kind, word, position } = tokens[at];
    if (isSign('(')) {
      at += 1;
      const inner = sum();
      take(')');
      return inner;
    }
    if (kind !== 'number' && kind !== 'name') throw refuse();
    at += 1;
    if (kind === 'number') return () => parseInt(word, 10);
    return (values) => {
      if (!Object.hasOwn(values, word)) throw mistake(ReferenceError, `Unknown name ${word}`, position);
      return values[word];
    };
  }

  function power() {
    const base = value();
    if (!isSign('^')) return base;
    at += 1;
    const exponent = negated();
    return (values) => base(values) ** exponent(values);
  }

  function negated() {
    if (!isSign('-')) return power();
    at += 1;
    const inner = negated();
    return (values) => -inner(values);
  }

  function product() {
    let left = negated();
    while (isSign('*', '/')) {
      const { word, position } = tokens[at];
      at += 1;
      left = word === '*' ? times(left, negated()) : divided(left, negated(), position);
    }
    return left;
  }

  function sum() {
    let left = product();
    while (isSign('+', '-')) {
      const { word } = tokens[at];
      at += 1;
      left = word === '+' ? plus(left, product()) : minus(left, product());
    }
    return left;
  }

  const formula = sum();
  if (tokens[at].kind !== 'end') throw refuse();
  return formula;
}

const times = (left, right) => (values) => left(values) * right(values);
const plus = (left, right) => (values) => left(values) + right(values);
const minus = (left, right) => (values) => left(values) - right(values);

function divided(left, right, position) {
  return (values) => {
    const [dividend, divisor] = [left(values), right(values)];
    if (divisor === 0) throw mistake(RangeError, 'Division by zero', position);
    return dividend / divisor;
  };
}

/** The number that a formula stands for; see README.md. */
function evaluate(text, values) {
  return read(tokenise(text))(values);
}

module.exports = { evaluate };
