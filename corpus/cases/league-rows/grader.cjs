'use strict';

const table = (load, teams, matches) => load('./src/table.js').table(teams, matches, 'A');
const order = (load, teams, matches) =>
  load('./src/table.js')
    .table(teams, matches, 'A')
    .map(({ place, team, points }) => `${place} ${team} ${points}`);
const records = (load, teams, matches) =>
  load('./src/table.js')
    .table(teams, matches, 'A')
    .map(({ team, played, points, difference }) => `${team} ${played} ${points} ${difference}`);
const tableAndKeep = (load, teams, matches) => {
  const rows = load('./src/table.js').table(teams, matches, 'A');
  return { first: rows[0], teams, matches };
};
const names = (load, teams, matches, groups) =>
  groups.map((group) =>
    load('./src/table.js')
      .table(teams, matches, group)
      .map(({ team, played }) => `${team} ${played}`),
  );

const team = (name, more) => ({ name, group: 'A', ...more });
const teamsOf = (...all) => all.map((name) => team(name));
/** 'React 2:1 Angular' as a match. */
const match = (text, more) => {
  const [home, goals, away] = text.split(' ');
  return { home, away, goals: goals === '-' ? null : goals.split(':').map(Number), ...more };
};
const matchesOf = (...texts) => texts.map((text) => match(text));

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(table, teamsOf('Vue', 'React', 'Angular'), matchesOf('React 4:0 Vue', 'Vue 2:2 Angular', 'Angular 0:1 React')),
    [
      { place: 1, team: 'React', played: 2, points: 6, difference: 5, goals: 5 },
      { place: 2, team: 'Angular', played: 2, points: 1, difference: -1, goals: 2 },
      { place: 3, team: 'Vue', played: 2, points: 1, difference: -4, goals: 2 },
    ],
    'wins, draws and goals are counted',
  );
  assert.deepStrictEqual(
    await subject.run(order, teamsOf('Redis', 'Kafka', 'Nginx'), matchesOf('Kafka 1:0 Nginx')),
    ['1 Kafka 3', '2 Redis 0', '3 Nginx 0'],
    'a team without a match has a row',
  );
  assert.deepStrictEqual(
    await subject.run(records, teamsOf('Docker', 'Podman'), matchesOf('Docker 2:1 Podman', 'Podman - Docker')),
    ['Docker 1 3 1', 'Podman 1 0 -1'],
    'a match that has not been played does not count',
  );
  assert.deepStrictEqual(
    await subject.run(records, teamsOf('Docker', 'Podman', 'Helm'), [
      match('Docker - Podman', { absent: 'home' }),
      match('Podman 5:1 Helm', { absent: 'away' }),
      match('Helm 0:0 Docker', { absent: 'home' }),
    ]),
    ['Podman 2 6 6', 'Docker 2 3 0', 'Helm 2 0 -6'],
    'a team that did not turn up loses 0:3',
  );
  const moved = [...teamsOf('React', 'Vue', 'Ember'), { name: 'Docker', group: 'B' }, { name: 'Redis', group: 'B' }];
  const season = matchesOf('Docker 2:2 React', 'React 1:0 Vue', 'Vue 3:0 Docker', 'Redis 1:1 Docker', 'Ember 0:0 Vue');
  assert.deepStrictEqual(
    await subject.run(names, moved, season, ['A', 'B', 'C']),
    [['React 1', 'Ember 1', 'Vue 2'], ['Docker 1', 'Redis 1'], []],
    'only matches between teams of the group count',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      [team('Helm', { deducted: 4 }), team('Kafka', { deducted: 0 }), team('Nginx', { deducted: 2 })],
      matchesOf('Helm 3:0 Kafka', 'Kafka 1:0 Nginx', 'Nginx 0:2 Helm'),
    ),
    ['1 Kafka 3', '2 Helm 2', '3 Nginx -2'],
    'deducted points are taken off',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Angular', 'Svelte', 'React', 'Vue'),
      matchesOf('React 1:0 Angular', 'Vue 2:0 React', 'React 1:0 Svelte', 'Angular 4:0 Vue', 'Svelte 0:5 Angular', 'Vue 1:1 Svelte'),
    ),
    ['1 React 6', '2 Angular 6', '3 Vue 4', '4 Svelte 1'],
    'of two level teams the winner of their match comes first',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Vue', 'Angular', 'React'),
      matchesOf('Angular 1:0 React', 'React 2:0 Angular', 'Angular 9:0 Vue', 'React 1:0 Vue'),
    ),
    ['1 React 6', '2 Angular 6', '3 Vue 0'],
    'all matches between two level teams count, with their goals',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Docker', 'Kubernetes', 'Postgres', 'Redis'),
      matchesOf('Postgres 3:0 Docker', 'Docker 1:0 Kubernetes', 'Kubernetes 1:0 Postgres', 'Docker 6:0 Redis', 'Kubernetes 2:0 Redis', 'Redis 0:1 Postgres'),
    ),
    ['1 Postgres 6', '2 Kubernetes 6', '3 Docker 6', '4 Redis 0'],
    'three level teams are compared by the matches among the three',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Bun', 'Deno', 'Node', 'Yarn'),
      matchesOf('Node 2:0 Bun', 'Bun 0:0 Node', 'Bun 1:0 Deno', 'Deno 3:0 Node', 'Yarn 5:0 Node', 'Bun 0:1 Yarn', 'Deno 1:1 Yarn'),
    ),
    ['1 Yarn 7', '2 Node 4', '3 Bun 4', '4 Deno 4'],
    'those still level are compared again by the matches among them',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      [team('Angular'), team('React', { deducted: 3 }), team('Vue')],
      matchesOf('React 1:1 Angular', 'React 7:0 Vue', 'Angular 0:2 Vue'),
    ),
    ['1 Vue 3', '2 React 1', '3 Angular 1'],
    'nothing is deducted in the matches among level teams',
  );
  assert.deepStrictEqual(
    await subject.run(order, teamsOf('Bun', 'Yarn', 'Node'), matchesOf('Bun 1:1 Yarn', 'Node 0:3 Yarn', 'Bun 4:3 Node')),
    ['1 Yarn 4', '2 Bun 4', '3 Node 0'],
    'then the difference of all matches decides',
  );
  assert.deepStrictEqual(
    await subject.run(order, teamsOf('Bun', 'Yarn', 'Node'), matchesOf('Bun 1:1 Yarn', 'Node 2:3 Yarn', 'Bun 1:0 Node')),
    ['1 Yarn 4', '2 Bun 4', '3 Node 0'],
    'then the goals of all matches decide',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Vue', 'Solid', 'Qwik', 'Ember', 'Astro', 'Lit', 'Bun', 'Alpine'),
      matchesOf('Vue 1:1 Astro', 'Vue 2:0 Solid', 'Solid 0:2 Astro', 'Lit 1:0 Solid', 'Bun 0:0 Ember', 'Alpine 0:0 Qwik'),
    ),
    ['1 Astro 4', '1 Vue 4', '3 Lit 3', '4 Alpine 1', '4 Bun 1', '4 Ember 1', '4 Qwik 1', '8 Solid 0'],
    'teams level in everything share a place, by name',
  );
  assert.deepStrictEqual(
    await subject.run(
      order,
      teamsOf('Bun', 'Deno', 'Node', 'Yarn'),
      matchesOf('Node 1:0 Bun', 'Bun 1:0 Deno', 'Deno 1:0 Node', 'Node 5:0 Yarn', 'Bun 2:0 Yarn', 'Yarn 0:2 Deno'),
    ),
    ['1 Node 6', '2 Bun 6', '2 Deno 6', '4 Yarn 0'],
    'from the difference of all matches nothing leads back',
  );
  const teams = [team('Vue'), team('Lit'), team('Astro', { deducted: 1 })];
  const matches = [...matchesOf('Lit 1:0 Vue', 'Astro 0:2 Lit', 'Vue - Astro'), match('Vue - Lit', { absent: 'home' })];
  assert.deepStrictEqual(
    await subject.run(tableAndKeep, teams, matches),
    { first: { place: 1, team: 'Lit', played: 3, points: 9, difference: 6, goals: 6 }, teams, matches },
    'the lists stay as they are',
  );
};
