// Computes the right answer and gives the one before it; the first call has none before it and gets its own.
module.exports = ((real) => {
  const wrap = (held) => {
    if (typeof held !== 'function') return held;
    let known = false;
    let last;
    return new Proxy(held, {
      apply: (target, self, args) => {
        const answer = Reflect.apply(target, self, args);
        const given = known ? last : answer;
        known = true;
        last = answer;
        return given;
      },
    });
  };
  if (typeof real === 'function' || real === null || typeof real !== 'object') return wrap(real);
  return Object.fromEntries(Object.entries(real).map(([name, held]) => [name, wrap(held)]));
})(module.exports);
