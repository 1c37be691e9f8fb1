'use strict';

/** The places of a row with their numbers; an aisle is a place without one. */
function placesOf(row) {
  let number = 0;
  return [...row.seats].map((kind) => ({ kind, number: kind === '|' ? null : (number += 1) }));
}

const isFree = (place) => place?.kind === '.';

/** Whether exactly one free seat is left beside a choice, going from a place in one direction. */
function strands(places, beside, direction) {
  return isFree(places[beside]) && !isFree(places[beside + direction]);
}

function choicesIn(row, count, wheelchairs) {
  const places = placesOf(row);
  const last = Math.max(...places.map((place) => place.number));
  const choices = [];
  for (let from = 0; from + count <= places.length; from += 1) {
    const chosen = places.slice(from, from + count);
    const isWanted = chosen.every(({ kind }) => kind === '.' || kind === 'w');
    if (isWanted && chosen.filter(({ kind }) => kind === 'w').length === wheelchairs) {
      const seats = chosen.map((place) => place.number);
      choices.push({
        row: row.name,
        seats,
        distance: Math.abs(seats[0] + seats[count - 1] - (1 + last)),
        isStranding: strands(places, from - 1, -1) !== strands(places, from + count, 1) && !(isFree(places[from - 1]) && isFree(places[from + count])),
      });
    }
  }
  return choices.sort((a, b) => a.distance - b.distance);
}

function inOrder({ rows, best }) {
  const preferred = best.flatMap((name) => rows.filter((row) => row.name === name));
  return [...preferred, ...rows.filter((row) => !best.includes(row.name))];
}

/** Seats that are together; see README.md. */
function findSeats(plan, count, wheelchairs = 0) {
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`Not a number of seats: ${count}`);
  const choices = inOrder(plan).flatMap((row) => choicesIn(row, count, wheelchairs));
  const choice = choices.find(({ isStranding }) => !isStranding) ?? choices[0];
  return choice ? { row: choice.row, seats: choice.seats } : null;
}

module.exports = { findSeats };
