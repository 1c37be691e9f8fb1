'use strict';

// A log in short: A accepted, R rejected, C traced complaint, U untraced one.
function log(supplier, text, prefix = supplier[0]) {
  let number = 0;
  return [...text].map((sign) => {
    if (sign === 'C' || sign === 'U') return { type: 'complaint', supplier, traced: sign === 'C' };
    number += 1;
    return { type: 'lot', supplier, lot: `${prefix}-${number}`, result: sign === 'A' ? 'accepted' : 'rejected' };
  });
}

const SHORT = { tightened: 't', normal: 'n', reduced: 'r' };

module.exports = async ({ subject, assert }) => {
  async function both(events) {
    const { value } = await subject.attempt(
      (load, events) => {
        const { replay, nextLevels } = load('./switching.js');
        return { lots: replay(events), next: nextLevels(events) };
      },
      events,
    );
    return { lots: [], next: {}, ...Object(value) };
  }
  const letters = (lots) => lots.map((lot) => SHORT[Object(lot).level] || '?').join('');
  // The levels used for the lots of one supplier and, after a dash, the one for the next.
  async function levels(supplier, text) {
    const { lots, next } = await both(log(supplier, text));
    return `${letters(Array.isArray(lots) ? lots : [])}-${SHORT[Object(next)[supplier]] || '?'}`;
  }
  const old = (text) => levels('Brandt', text);
  const fresh = (text) => levels('Quill', text);

  assert.deepStrictEqual(await fresh('AAAAAAA'), 'tttttnn-n', 'the first five lots of a new supplier are tightened');
  assert.deepStrictEqual(await levels('Osei', 'AA'), 'nn-n', 'an established supplier starts at normal');
  assert.deepStrictEqual([await old('RAAAR'), await old('AAAARAAR')], ['nnnnn-t', 'nnnnnnnn-t'], 'two rejected of five lots in a row tighten');
  assert.deepStrictEqual(await old('AARR'), 'nnnn-t', 'two rejected tighten before there were five lots');
  assert.deepStrictEqual([await old('RAAAAR'), await old('RAAAAARAAAAR')], ['nnnnnn-n', 'nnnnnnnnnnnn-n'], 'two rejected further apart do not tighten');
  assert.deepStrictEqual(await old('AAARRAAAARAAAAA'), 'nnnnntttttttttt-n', 'a rejected lot under tightened starts the count again');
  assert.deepStrictEqual(await old('AAARRAAAAARAA'), 'nnnnntttttnnn-n', 'what was rejected before the return to normal is forgotten');
  assert.deepStrictEqual([await old('RAAAAAAAAA'), await old('RAAAAAAAAAA')], ['nnnnnnnnnn-n', 'nnnnnnnnnnn-r'], 'the tenth accepted in a row under normal reduces');
  assert.deepStrictEqual(await old('AAAAARAAAAAAAAA'), 'nnnnnnnnnnnnnnn-n', 'accepted lots on both sides of a rejected one are no row');
  assert.deepStrictEqual(await old('AAARRAAAAAAAAAAAAAAA'), 'nnnnntttttnnnnnnnnnn-r', 'what was accepted under tightened does not count towards reduced');
  assert.deepStrictEqual(await old('AAAAAAAAAAAAAAAAAAAAAAA'), 'nnnnnnnnnnrrrrrrrrrrrrr-r', 'reduced lasts while lots are accepted');
  assert.deepStrictEqual(await old('AAAAAAAAAAAAAAAAR'), 'nnnnnnnnnnrrrrrrr-n', 'one rejected under reduced leads to normal');
  assert.deepStrictEqual(await old('AAAAAAAAAARAR'), 'nnnnnnnnnnrnn-n', 'the lot that ended reduced is not counted once more');
  assert.deepStrictEqual(await old('AAAAAAAAAARAAAAAAAAA'), 'nnnnnnnnnnrnnnnnnnnn-n', 'after reduced the row starts from nothing');
  assert.deepStrictEqual([await old('AAACA'), await old('AAARRAAAAACA')], ['nnnt-t', 'nnnnntttttt-t'], 'a complaint tightens a normal supplier');
  assert.deepStrictEqual(await old('AAAAAAAAAAACA'), 'nnnnnnnnnnrt-t', 'a complaint tightens a reduced supplier');
  assert.deepStrictEqual(await old('AAARRAACAAAACAAAA'), 'nnnnntttttttttt-t', 'a complaint under tightened starts the count again');
  assert.deepStrictEqual(await old('AAACAAAAA'), 'nnnttttt-n', 'a complaint clears what was counted under normal');
  assert.deepStrictEqual([await old('AAUA'), await old('AAAAAAAAAUA')], ['nnn-n', 'nnnnnnnnnn-r'], 'a complaint about something else changes nothing');

  assert.deepStrictEqual(await fresh('AARAAAAAARAARAAACAAAAAARAAAAA'), 'ttttttttnnnnnttttttttnnnnnnn-n', 'the history of the inspector comes out as he kept it');

  const brandt = log('Brandt', 'AARAR');
  const quill = log('Quill', 'AAAA');
  const mixed = await both([brandt[0], quill[0], quill[1], brandt[1], quill[2], brandt[2], quill[3], brandt[3], brandt[4]]);
  const order = ['B-1', 'Q-1', 'Q-2', 'B-2', 'Q-3', 'B-3', 'Q-4', 'B-4', 'B-5'];
  const used = ['normal', 'tightened', 'tightened', 'normal', 'tightened', 'normal', 'tightened', 'normal', 'normal'];
  const suppliers = { B: 'Brandt', Q: 'Quill' };
  assert.deepStrictEqual(
    [mixed.lots, mixed.next],
    [order.map((lot, index) => ({ supplier: suppliers[lot[0]], lot, level: used[index] })), { Brandt: 'tightened', Quill: 'tightened' }],
    'suppliers are counted apart and come out in the order of the log',
  );
  const empty = await both([]);
  const complaint = await both(log('Osei', 'C'));
  assert.deepStrictEqual([empty, complaint], [{ lots: [], next: {} }, { lots: [], next: { Osei: 'tightened' } }], 'a log without lots has no levels but what a complaint left');
};
