'use strict';

const ABSENT = { home: [0, 3], away: [3, 0] };

const result = (match) => ABSENT[match.absent] ?? match.goals;
const pointsFor = (scored, letIn) => (scored > letIn ? 2 : Number(scored === letIn));

/** Played, points, difference and goals of one team, in the given matches only. */
function tally(name, matches) {
  const sum = { played: 0, points: 0, difference: 0, goals: 0 };
  for (const match of matches) {
    const side = [match.home, match.away].indexOf(name);
    if (side >= 0) {
      const [scored, letIn] = [result(match)[side], result(match)[1 - side]];
      sum.played += 1;
      sum.points += pointsFor(scored, letIn);
      sum.difference += scored - letIn;
      sum.goals += scored;
    }
  }
  return sum;
}

/** Splits rows into classes of equal rank, the first class first. */
function classesBy(rows, ranks) {
  const rankOf = new Map(rows.map((row) => [row, ranks(row)]));
  const compare = (a, b) => {
    const [left, right] = [rankOf.get(a), rankOf.get(b)];
    const i = left.findIndex((value, at) => value !== right[at]);
    return i < 0 ? 0 : right[i] - left[i];
  };
  const classes = [];
  for (const row of [...rows].sort(compare)) {
    if (classes.length > 0 && compare(classes.at(-1)[0], row) === 0) classes.at(-1).push(row);
    else classes.push([row]);
  }
  return classes;
}

/** Classes of teams that are level on points; a class of several shares its place. */
function separate(rows, matches) {
  const names = rows.map((row) => row.team);
  const among = matches.filter(({ home, away }) => names.includes(home) && names.includes(away));
  const classes = classesBy(rows, ({ team }) => {
    const { points, difference } = tally(team, among);
    return [points, difference];
  });
  if (classes.length > 1) return classes.flatMap((level) => separate(level, matches));
  return classesBy(rows, ({ difference, goals }) => [difference, goals]);
}

/** The rows of one group's table, in order; see README.md. */
function table(teams, matches, group) {
  const members = teams.filter((team) => team.group === group);
  const names = members.map((team) => team.name);
  const counted = matches.filter((match) => result(match) && names.includes(match.home) && names.includes(match.away));
  const rows = members.map(({ name, deducted = 0 }) => {
    const { played, points, difference, goals } = tally(name, counted);
    return { team: name, played, points: points - deducted, difference, goals };
  });
  const classes = classesBy(rows, (row) => [row.points]).flatMap((level) => separate(level, counted));
  let place = 1;
  return classes.flatMap((level) => {
    const shared = place;
    place += level.length;
    return level.sort((a, b) => a.team.localeCompare(b.team, 'en')).map((row) => ({ place: shared, ...row }));
  });
}

module.exports = { table };
