'use strict';

// Shunting-yard: first into reverse Polish notation, then computed with a stack.
const STRENGTH = { '+': 1, '-': 1, '*': 2, '/': 2, neg: 3, '^': 4 };

function fail(Type, position) {
  const error = new Type('wrong formula');
  error.position = position;
  throw error;
}

function next(text, from) {
  let position = from;
  while (position < text.length && /\s/.test(text[position])) position += 1;
  const rest = text.slice(position);
  const word = (/^\d+(\.\d+)?/.exec(rest) ?? /^[a-z][a-z0-9]*/.exec(rest) ?? /^./s.exec(rest) ?? [''])[0];
  return { word, position, end: position + word.length };
}

function toPolish(text) {
  const output = [];
  const waiting = [];
  let expectsValue = true;
  let at = 0;
  for (;;) {
    const { word, position, end } = next(text, at);
    at = end;
    if (expectsValue) {
      if (/^\d/.test(word)) {
        output.push({ number: Number(word) });
        expectsValue = false;
      } else if (/^[a-z]/.test(word)) {
        output.push({ name: word, position });
        expectsValue = false;
      } else if (word === '(') {
        waiting.push({ op: '(', position });
      } else if (word === '-') {
        waiting.push({ op: 'neg', position });
      } else {
        fail(SyntaxError, word === '' ? text.length : position);
      }
    } else if (word === ')' || word === '') {
      while (waiting.length > 0 && waiting.at(-1).op !== '(') output.push(waiting.pop());
      const opened = waiting.pop() !== undefined;
      if (word === '' && opened) fail(SyntaxError, text.length);
      if (word === '') return output;
      if (!opened) fail(SyntaxError, position);
    } else if (word !== '(' && Object.hasOwn(STRENGTH, word) && word !== 'neg') {
      const isStronger = (op) => (word === '^' ? STRENGTH[op] > 4 : STRENGTH[op] >= STRENGTH[word]);
      while (waiting.length > 0 && waiting.at(-1).op !== '(' && isStronger(waiting.at(-1).op)) output.push(waiting.pop());
      waiting.push({ op: word, position });
      expectsValue = true;
    } else {
      fail(SyntaxError, position);
    }
  }
}

function evaluate(text, values) {
  const known = new Map(Object.entries(values));
  const stack = [];
  for (const { number, name, op, position } of toPolish(text)) {
    if (number !== undefined) {
      stack.push(number);
    } else if (name !== undefined) {
      if (!known.has(name)) fail(ReferenceError, position);
      stack.push(known.get(name));
    } else if (op === 'neg') {
      stack.push(-stack.pop());
    } else {
      const right = stack.pop();
      const left = stack.pop();
      if (op === '/' && right === 0) fail(RangeError, position);
      stack.push({ '+': left + right, '-': left - right, '*': left * right, '/': left / right, '^': left ** right }[op]);
    }
  }
  return stack[0];
}

module.exports = { evaluate };
