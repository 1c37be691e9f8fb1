'use strict';

const LEVEL = { '+': 1, '-': 1, '*': 2, '/': 2, '^': 3 };

const COMPUTE = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '^': (a, b) => a ** b,
};

/** The number that a formula stands for; see README.md. */
function evaluate(text, values) {
  const tokens = text.replace(/ /g, '').match(/(?<![\d)a-z])-?\d+(\.\d+)?|\d+(\.\d+)?|[a-z]\w*|[-+*/^()]/g) ?? [];
  const numbers = [];
  const signs = [];
  const reduce = () => {
    const b = numbers.pop();
    numbers.push(COMPUTE[signs.pop()](numbers.pop(), b));
  };
  for (const token of tokens) {
    if (token === '(') {
      signs.push(token);
    } else if (token === ')') {
      while (signs.at(-1) !== '(') reduce();
      signs.pop();
    } else if (LEVEL[token]) {
      while (LEVEL[signs.at(-1)] >= LEVEL[token]) reduce();
      signs.push(token);
    } else {
      numbers.push(token in values ? values[token] : Number(token));
    }
  }
  while (signs.length > 0) reduce();
  return numbers[0];
}

module.exports = { evaluate };
