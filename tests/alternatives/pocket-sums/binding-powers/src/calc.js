'use strict';

class Formula {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  error(Type, position) {
    return Object.assign(new Type('mistake in formula'), { position });
  }

  peek() {
    this.at += this.text.slice(this.at).match(/^\s*/)[0].length;
    const match = this.text.slice(this.at).match(/^(?:[0-9]+(?:\.[0-9]+)?|[a-z][a-z0-9]*|[^])/);
    return match ? match[0] : null;
  }

  prefix() {
    const token = this.peek();
    const position = this.at;
    if (token === null) throw this.error(SyntaxError, this.text.length);
    this.at += token.length;
    if (token === '-') return { type: 'negate', of: this.expression(25) };
    if (token === '(') {
      const inner = this.expression(0);
      if (this.peek() !== ')') throw this.error(SyntaxError, this.at);
      this.at += 1;
      return inner;
    }
    if (/^[0-9]/.test(token)) return { type: 'number', number: parseFloat(token) };
    if (/^[a-z]/.test(token)) return { type: 'name', name: token, position };
    throw this.error(SyntaxError, position);
  }

  expression(minimum) {
    let left = this.prefix();
    for (;;) {
      const token = this.peek();
      const [power, rightPower] = { '+': [10, 11], '-': [10, 11], '*': [20, 21], '/': [20, 21], '^': [31, 24] }[token] ?? [-1];
      if (power < minimum || power < 0) return left;
      const position = this.at;
      this.at += 1;
      left = { type: token, left, right: this.expression(rightPower), position };
    }
  }

  whole() {
    const tree = this.expression(0);
    if (this.peek() !== null) throw this.error(SyntaxError, this.at);
    return tree;
  }

  compute(node, values) {
    if (node.type === 'number') return node.number;
    if (node.type === 'negate') return 0 - this.compute(node.of, values);
    if (node.type === 'name') {
      if (!Object.keys(values).includes(node.name)) throw this.error(ReferenceError, node.position);
      return values[node.name];
    }
    const left = this.compute(node.left, values);
    const right = this.compute(node.right, values);
    switch (node.type) {
      case '+': return left + right;
      case '-': return left - right;
      case '*': return left * right;
      case '^': return Math.pow(left, right);
      default:
        if (right === 0) throw this.error(RangeError, node.position);
        return left / right;
    }
  }
}

exports.evaluate = (text, values) => {
  const formula = new Formula(text);
  return formula.compute(formula.whole(), values);
};
