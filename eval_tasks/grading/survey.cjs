
// Follows a grader's own text in a copy of it: every check is made, none ends the grade, and the labels of those that
// failed are reported as checks that passed. For the corpus proof only; it must never be laid beside a real grade.
{
  const strict = require('node:assert/strict');
  const graded = module.exports;
  const asyncly = new Set(['rejects', 'doesNotReject']);
  module.exports = async ({ subject, assert, files }) => {
    const failed = new Set();
    const labelled = (name, args) => args.findLast((arg) => typeof arg === 'string') ?? name;
    const lenient = (name) => (...args) => {
      const fail = () => void failed.add(labelled(name, args));
      if (asyncly.has(name)) return strict[name](...args).catch(fail);
      try {
        return strict[name](...args);
      } catch {
        return fail();
      }
    };
    const names = Object.keys(assert).filter((name) => typeof strict[name] === 'function' && /^[a-z]/.test(name));
    const survey = Object.assign(lenient('ok'), Object.fromEntries(names.map((name) => [name, lenient(name)])));
    survey.strict = survey;
    await graded({ subject, assert: survey, files });
    for (const label of failed) assert.ok(true, label);
    assert.ok(true, 'surveyed');
  };
}
