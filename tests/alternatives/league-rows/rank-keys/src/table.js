'use strict';

// Every team gets a growing list of numbers; lists are compared number by number, the larger one first.
function compareKeys(a, b) {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const step = (b[i] ?? 0) - (a[i] ?? 0);
    if (step !== 0) return step;
  }
  return 0;
}

function sums(matches) {
  const all = {};
  const add = (name, scored, letIn) => {
    const sum = (all[name] ??= { played: 0, points: 0, difference: 0, goals: 0 });
    sum.played++;
    sum.goals += scored;
    sum.difference += scored - letIn;
    if (scored > letIn) sum.points += 3;
    else if (scored === letIn) sum.points += 1;
  };
  matches.forEach(({ home, away, h, a }) => {
    add(home, h, a);
    add(away, a, h);
  });
  return (name) => all[name] ?? { played: 0, points: 0, difference: 0, goals: 0 };
}

function table(teams, matches, group) {
  const inGroup = new Map(teams.filter((team) => team.group === group).map((team) => [team.name, team]));
  const counted = [];
  for (const { home, away, goals, absent } of matches) {
    if (!inGroup.has(home) || !inGroup.has(away)) continue;
    if (absent === 'home') counted.push({ home, away, h: 0, a: 3 });
    else if (absent === 'away') counted.push({ home, away, h: 3, a: 0 });
    else if (goals !== null && goals !== undefined) counted.push({ home, away, h: goals[0], a: goals[1] });
  }
  const total = sums(counted);
  const list = [...inGroup.values()].map((team) => {
    const sum = total(team.name);
    const points = sum.points - (team.deducted ?? 0);
    return { row: { team: team.name, ...sum, points }, key: [points] };
  });

  for (let changed = true; changed; ) {
    changed = false;
    const done = new Set();
    const additions = [];
    for (const entry of list) {
      if (done.has(entry)) continue;
      const level = list.filter((other) => compareKeys(entry.key, other.key) === 0);
      level.forEach((other) => done.add(other));
      const among = new Set(level.map((other) => other.row.team));
      const mini = sums(counted.filter((match) => among.has(match.home) && among.has(match.away)));
      const marks = level.map((other) => {
        const { points, difference } = mini(other.row.team);
        return [points, difference];
      });
      if (marks.some((mark) => compareKeys(mark, marks[0]) !== 0)) {
        changed = true;
        level.forEach((other, i) => additions.push([other, marks[i]]));
      } else {
        level.forEach((other) => additions.push([other, [0, 0]]));
      }
    }
    additions.forEach(([entry, marks]) => entry.key.push(...marks));
  }

  for (const { row, key } of list) key.push(row.difference, row.goals);
  list.sort((a, b) => compareKeys(a.key, b.key) || a.row.team.localeCompare(b.row.team, 'en'));
  return list.map(({ row, key }) => ({ place: 1 + list.filter((other) => compareKeys(other.key, key) < 0).length, ...row }));
}

module.exports = { table };
