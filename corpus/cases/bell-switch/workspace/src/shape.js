'use strict';

const fromText = (text) => (text === null || text === undefined ? null : JSON.parse(text));

/** The profile of a row of the table `users`. */
function toProfile(row) {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    city: row.city,
    language: row.language,
    links: fromText(row.links),
  };
}

module.exports = { toProfile };
