'use strict';

const order = (load, titles) =>
  load('./src/labels.js')
    .shelfOrder(titles.map((title) => ({ title })))
    .map((book) => book.title);
const orderAll = (load, lists) =>
  lists.map((titles) =>
    load('./src/labels.js')
      .shelfOrder(titles.map((title) => ({ title })))
      .map((book) => book.title),
  );
const orderAndKeep = (load, books) => {
  const ordered = load('./src/labels.js').shelfOrder(books);
  return { ordered, books };
};
const labels = (load, books) => load('./src/labels.js').labels(books);

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(order, ['Zephyr', 'The Yard', 'an Index', 'DER Xylograph', 'A Map', 'die Wache', 'Vault', 'das Ufer']),
    ['an Index', 'A Map', 'das Ufer', 'Vault', 'die Wache', 'DER Xylograph', 'The Yard', 'Zephyr'],
    'an article at the beginning is passed over, in any case',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Theory of Scans', 'The Zoo', 'Anvil', 'Apis', 'Dienst', 'A Story']),
    ['Anvil', 'Apis', 'Dienst', 'A Story', 'Theory of Scans', 'The Zoo'],
    'a word that only begins like an article is none',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Bench', 'A-Z of Docker', 'Sieve', 'Der/Fork', 'Das, aber', 'Torch']),
    ['A-Z of Docker', 'Bench', 'Das, aber', 'Der/Fork', 'Sieve', 'Torch'],
    'an article needs a blank behind it',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['The A Record', 'Zebra', 'The The Story', 'Review', 'Backup', 'Thaw']),
    ['The A Record', 'Backup', 'Review', 'Thaw', 'The The Story', 'Zebra'],
    'only one article is passed over',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Die', 'Basics', 'A ...', 'The !', 'Query']),
    ['A ...', 'Basics', 'Die', 'Query', 'The !'],
    'an article with nothing behind it is the title',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Volume 10', 'Volume 99', 'Volume 9', 'Volume 100', 'Volume 2 Part 11', 'Volume 2 Part 3']),
    ['Volume 2 Part 3', 'Volume 2 Part 11', 'Volume 9', 'Volume 10', 'Volume 99', 'Volume 100'],
    'numbers are ordered by value',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Card 10000000000000000000003', 'Card 10000000000000000000001', 'Card 10000000000000000000002']),
    ['Card 10000000000000000000001', 'Card 10000000000000000000002', 'Card 10000000000000000000003'],
    'numbers may have any number of digits',
  );
  assert.deepStrictEqual(
    await subject.run(orderAll, [
      ['Agents', 'Port 80', '99 Patterns', 'Port Scans'],
      ['Port Scans', '99 Patterns', 'Port 80', 'Agents'],
    ]),
    [
      ['99 Patterns', 'Agents', 'Port 80', 'Port Scans'],
      ['99 Patterns', 'Agents', 'Port 80', 'Port Scans'],
    ],
    'numbers stand before letters',
  );
  assert.deepStrictEqual(
    await subject.run(orderAll, [
      ['Testbed', 'Test Bench', 'Testing', 'Test', 'Test Zone'],
      ['Grid 4', 'Grid'],
      ['Grid', 'Grid 4'],
    ]),
    [
      ['Test', 'Test Bench', 'Test Zone', 'Testbed', 'Testing'],
      ['Grid', 'Grid 4'],
      ['Grid', 'Grid 4'],
    ],
    'titles are compared word by word',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['docker swarm', 'Docker Basics', 'DOCKER tales', 'Docker rules', 'api', 'Zone']),
    ['api', 'Docker Basics', 'Docker rules', 'docker swarm', 'DOCKER tales', 'Zone'],
    'letter case does not matter',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Zukunft', 'Überblick', 'Audit', 'Äpfel', 'Afrika', 'Österreich', 'Ofen', 'Échelon', 'Ebbe', 'Unit', 'Uboot', 'Ado']),
    ['Ado', 'Afrika', 'Äpfel', 'Audit', 'Ebbe', 'Échelon', 'Ofen', 'Österreich', 'Überblick', 'Uboot', 'Unit', 'Zukunft'],
    'umlauts and accents count as the plain letter',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['Strasz', 'Straßen', 'Strassf', 'Strasr', 'Strat']),
    ['Strasr', 'Straßen', 'Strassf', 'Strasz', 'Strat'],
    'a sharp s counts as two',
  );
  assert.deepStrictEqual(
    await subject.run(order, ['CI/CD: Runbook', '"CI" Daily', '(CI) Alarm', 'CI - Zebra', '¿CI? Eve', 'CI, CE']),
    ['(CI) Alarm', 'CI/CD: Runbook', 'CI, CE', '"CI" Daily', '¿CI? Eve', 'CI - Zebra'],
    'signs only separate words',
  );
  assert.deepStrictEqual(
    await subject.run(orderAll, [
      ['E2Z', 'E 3', 'E 2 E Tests', 'E2E Tests', 'E2 B'],
      ['4K Video', '4 Jobs', '4 Lines', '4K Radio'],
    ]),
    [['E2 B', 'E 2 E Tests', 'E2E Tests', 'E2Z', 'E 3'], ['4 Jobs', '4K Radio', '4K Video', '4 Lines']],
    'a new word begins where letters and digits meet',
  );
  assert.deepStrictEqual(
    await subject.run(orderAll, [
      ['Zed', 'Scan: 2, Vol. 3', 'Scan 02 Vol 3', 'Das Scan-2 (Vol 003)', 'Dee'],
      ['Zed', 'Das Scan-2 (Vol 003)', 'Scan 02 Vol 3', 'Scan: 2, Vol. 3', 'Dee'],
    ]),
    [
      ['Dee', 'Scan: 2, Vol. 3', 'Scan 02 Vol 3', 'Das Scan-2 (Vol 003)', 'Zed'],
      ['Dee', 'Das Scan-2 (Vol 003)', 'Scan 02 Vol 3', 'Scan: 2, Vol. 3', 'Zed'],
    ],
    'books with the same words keep the order of the list',
  );
  const books = [{ title: 'Gates', shelf: 'C2' }, { title: 'Canary', shelf: 'C1' }, { title: 'Flags', shelf: 'C3' }];
  assert.deepStrictEqual(
    await subject.run(orderAndKeep, books),
    { ordered: [books[1], books[2], books[0]], books },
    'the list itself stays as it is',
  );
  assert.deepStrictEqual(
    await subject.run(labels, [{ title: 'Rollback', shelf: 'C1' }, { title: 'The Pipeline', shelf: 'C2' }]),
    [{ number: 1, text: 'The Pipeline' }, { number: 2, text: 'Rollback' }],
    'labels show the whole title, numbered along the shelf',
  );
};
