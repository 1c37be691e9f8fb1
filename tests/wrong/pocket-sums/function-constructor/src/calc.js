'use strict';

function evaluate(text, values) {
  const odd = text.search(/[^-+*/^().\sa-z0-9]/);
  if (odd >= 0) throw Object.assign(new SyntaxError('odd character'), { position: odd });
  const names = Object.keys(values);
  return new Function(...names, `return (${text.replaceAll('^', '**')});`)(...names.map((name) => values[name]));
}

module.exports = { evaluate };
