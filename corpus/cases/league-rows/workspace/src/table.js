'use strict';

/** The rows of one group's table, in order; see README.md. */
function table(teams, matches, group) {
  const rows = new Map();
  for (const { name } of teams.filter((team) => team.group === group)) {
    rows.set(name, { place: 0, team: name, played: 0, points: 0, difference: 0, goals: 0 });
  }
  for (const { home, away, goals } of matches) {
    if (!rows.has(home) && !rows.has(away)) continue;
    const [scored, letIn] = goals ?? [0, 0];
    count(rows, home, scored, letIn);
    count(rows, away, letIn, scored);
  }
  return [...rows.values()]
    .sort((a, b) => b.points - a.points || b.difference - a.difference || b.goals - a.goals)
    .map((row, i) => ({ ...row, place: i + 1 }));
}

function count(rows, team, scored, letIn) {
  const row = rows.get(team) ?? { place: 0, team, played: 0, points: 0, difference: 0, goals: 0 };
  rows.set(team, row);
  row.played += 1;
  row.goals += scored;
  row.difference += scored - letIn;
  if (scored > letIn) row.points += 3;
  if (scored === letIn) row.points += 1;
}

module.exports = { table };
