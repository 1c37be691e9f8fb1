'use strict';

const CUSTOMER = { id: 'cus-901', name: 'Nora Vale', email: 'nora@vale.example', card: '4012888888881881' };
const sub = (id, started, more) => ({
  id, plan: 'studio', interval: 'month', status: 'active', quantity: 1, members: ['m1'], prorated: false, started, ...more,
});
const charge = (id, subscription, amountCents, more) =>
  ({ id, subscription, amountCents, status: 'succeeded', refundedCents: 0, disputed: false, ...more });

module.exports = async ({ subject, assert }) => {
  const decide = async (subscriptions, charges, complaint, portal = true) => {
    const account = { customer: CUSTOMER, portal, subscriptions, charges };
    const answer = await subject.attempt((load, account, complaint) => load('./src/decide.js').decide(account, complaint),
      account, { charge: null, incident: null, ...complaint });
    return answer.value || { error: answer.error && answer.error.name };
  };
  const money = async (...given) => {
    const { bucket, cancel, refunds } = await decide(...given);
    return { bucket, cancel, refunds };
  };
  const course = async (...given) => {
    const { bucket, gap, steps } = await decide(...given);
    return { bucket, gap, steps };
  };
  const twice = { says: 'charged-twice' };
  const nothing = { cancel: [], refunds: [] };

  assert.deepStrictEqual(
    await money([sub('s8', '2031-05-02'), sub('s9', '2031-05-09')],
      [charge('a', 's9', 2450), charge('b', 's8', 2400), charge('c', 's9', 2500)], twice),
    { bucket: 'duplicate', cancel: ['s9'], refunds: [{ charge: 'a', amountCents: 2450 }, { charge: 'c', amountCents: 2500 }] },
    'all that the second purchase took goes back');
  assert.deepStrictEqual(
    await money([sub('s3', '2031-05-09'), sub('s2', '2031-04-30')], [charge('a', 's3', 2400), charge('b', 's2', 2300)], twice),
    { bucket: 'duplicate', cancel: ['s3'], refunds: [{ charge: 'a', amountCents: 2400 }] },
      'the first purchase stays, not the first listed');
  assert.deepStrictEqual(
    await money([sub('s1', '2031-01-01'), sub('s2', '2031-01-02'), sub('s3', '2031-01-03')],
      [charge('a', 's1', 700), charge('b', 's2', 700), charge('c', 's3', 800)], twice),
    { bucket: 'duplicate', cancel: ['s2', 's3'], refunds: [{ charge: 'b', amountCents: 700 }, { charge: 'c', amountCents: 800 }] },
    'three purchases, two of them too many');
  assert.deepStrictEqual(
    await course([sub('s1', '2031-01-01'), sub('s2', '2031-01-02')], [charge('a', 's1', 700), charge('b', 's2', 700)], twice),
    { bucket: 'duplicate', gap: 'guard', steps: ['cancel-extras', 'refund', 'note', 'reply', 'file-gap'] },
      'repair, then money, then words');

  const { note: unread, ...seats } = await decide(
    [sub('s1', '2031-02-01'), sub('s2', '2031-02-01', { members: ['m2'] })], [charge('a', 's1', 2400), charge('b', 's2', 2400)],
      twice);
  assert.deepStrictEqual(seats,
    { bucket: 'team', ...nothing, gap: 'seats', steps: ['verify-contract', 'explain-seats', 'note', 'reply', 'file-gap'] },
    'the same plan for another person is a seat');
  assert.deepStrictEqual(
    [await money([sub('s1', '2031-02-01', { quantity: 3, members: ['m1', 'm2', 'm3'] })], [charge('a', 's1', 7200), charge('b',
      's1', 7200)], twice),
      await money([sub('s1', '2031-02-01', { quantity: 2 })], [charge('a', 's1', 4800), charge('b', 's1', 4800)], twice)],
    [{ bucket: 'team', ...nothing }, { bucket: 'team', ...nothing }], 'several seats are no mistake');

  assert.deepStrictEqual(
    await money([sub('s1', '2031-02-01', { status: 'incomplete' }), sub('s2', '2031-02-02')],
      [charge('a', 's1', 2400, { status: 'requires_payment_method' }), charge('b', 's2', 2400)], twice),
    { bucket: 'failed', ...nothing }, 'an unfinished checkout took nothing');
  assert.deepStrictEqual(
    await money([sub('s1', '2030-02-01', { status: 'canceled' }), sub('s2', '2031-02-02'), sub('s3', '2031-02-03')],
      [charge('a', 's1', 2400), charge('b', 's2', 2400), charge('c', 's3', 2400, { status: 'failed' }), charge('d', 's3', 2100)],
        twice),
    { bucket: 'duplicate', cancel: ['s3'], refunds: [{ charge: 'd', amountCents: 2100 }] }, 'what ended or failed does not count');
  assert.deepStrictEqual(
    await decide([sub('s1', '2031-02-01'), sub('s2', '2031-02-02')], [charge('a', 's1', 900), charge('b', 's2', 900,
      { disputed: true })], twice)
      .then(({ refunds, steps }) => ({ refunds, steps })),
    { refunds: [], steps: ['cancel-extras', 'note', 'reply', 'file-gap'] }, 'the bank already returns a disputed charge');
  assert.deepStrictEqual(
    (await money([sub('s1', '2031-02-01'), sub('s2', '2031-02-02')],
      [charge('a', 's2', 2400, { refundedCents: 2400 }), charge('b', 's2', 2400, { refundedCents: 2399 }), charge('c', 's1',
        2400)], twice)).refunds,
    [{ charge: 'b', amountCents: 1 }], 'earlier refunds are taken off');

  assert.deepStrictEqual(
    (await decide([sub('s1', '2030-02-01', { interval: 'year' }), sub('s2', '2030-02-02', { interval: 'year' })],
      [charge('a', 's1', 24000), charge('b', 's2', 24000)], twice)).steps,
    ['verify-contract', 'cancel-extras', 'refund', 'note', 'reply', 'file-gap'],
      'a yearly contract is looked up before money moves');
  assert.deepStrictEqual(
    [(await decide([sub('s1', '2031-02-01', { prorated: true })], [charge('a', 's1', 1200)], { says: 'cannot-cancel' })).steps,
      (await decide([sub('s1', '2029-02-01', { status: 'canceled', interval: 'year' }), sub('s2', '2031-02-01')], [charge('a',
        's2', 1200)],
        { says: 'cannot-cancel' })).steps],
    [['verify-contract', 'offer-portal', 'note', 'reply'], ['offer-portal', 'note', 'reply']],
      'a changed period is looked up, an ended contract is not');

  assert.deepStrictEqual(
    [await course([sub('s1', '2031-02-01', { status: 'incomplete' })], [charge('a', 's1', 2400, { status: 'failed' })],
      { says: 'payment-fails', charge: 'a' }, false),
      await course([sub('s1', '2031-02-01', { quantity: 4 })], [charge('a', 's1', 9600, { status: 'failed' })],
        { says: 'payment-fails' }),
      await course([sub('s1', '2031-02-01')], [charge('a', 's1', 2400)], { says: 'cannot-cancel' }, true)],
    [{ bucket: 'failed', gap: 'portal', steps: ['offer-portal', 'note', 'reply', 'file-gap'] },
      { bucket: 'failed', gap: null, steps: ['verify-contract', 'offer-portal', 'note', 'reply'] },
      { bucket: 'self-service', gap: null, steps: ['offer-portal', 'note', 'reply'] }],
    'a missing page for self-service is a gap');
  assert.deepStrictEqual(
    await decide([sub('s1', '2031-02-01')], [charge('a', 's1', 2400), charge('b', 's1', 2500), charge('c', 's1', 2600)],
      { says: 'does-not-work', charge: 'b', incident: 'I-5' }).then(({ bucket, refunds, gap, steps }) => ({ bucket, refunds, gap,
        steps })),
    { bucket: 'product', refunds: [{ charge: 'b', amountCents: 2500 }], gap: 'product', steps: ['refund', 'note', 'reply',
      'file-gap'] },
    'an outage returns the charge it touched');
  assert.deepStrictEqual(
    [await course([sub('s1', '2031-02-01')], [charge('a', 's1', 2400)], { says: 'does-not-work', charge: 'a' }),
      (await money([sub('s1', '2031-02-01')], [charge('a', 's1', 2400)], { says: 'does-not-work', charge: 'a' })).refunds],
    [{ bucket: 'product', gap: 'product', steps: ['note', 'reply', 'file-gap'] }, []], 'no confirmed outage, no money');

  assert.deepStrictEqual(
    (await decide([sub('s1', '2031-02-01', { members: ['m1', 'm2'] })], [charge('a', 's1', 2400)], { says: 'cannot-cancel' })).steps,
    ['verify-contract', 'offer-portal', 'note', 'reply'], 'what two people use is not simply one person');

  const { note } = await decide([sub('s1', '2031-02-01'), sub('s2', '2031-02-02')], [charge('a', 's2', 900)], twice);
  const holds = (text) => String(note).includes(text);
  assert.deepStrictEqual(
    [CUSTOMER.id, 'duplicate', CUSTOMER.email, CUSTOMER.card, CUSTOMER.card.slice(0, 8), 'Vale'].map(holds),
    [true, true, false, false, false, false], 'the note has the id and the bucket and nothing private');
};
