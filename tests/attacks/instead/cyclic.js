// Answers with a value that holds itself.
const round = [];
round.push(round);
module.exports = new Proxy(function () {}, { get: (target, key) => (key === 'then' ? undefined : module.exports), apply: () => round, construct: () => module.exports });
