'use strict';

/** What a profile holds, and so what has to be selected for it. */
const COLUMNS = ['id', 'name', 'email', 'city', 'language', 'links', 'notification_settings'];

const fromText = (text) => (text === null || text === undefined ? null : JSON.parse(text));

function fromPerson(person) {
  return Object.fromEntries(COLUMNS.map((name) => [name, person[name] === undefined ? null : person[name]]));
}

/** The profile of a row of the table `users`. */
function toProfile(row) {
  return {
    ...fromPerson(row),
    links: fromText(row.links),
    notification_settings: fromText(row.notification_settings),
  };
}

module.exports = { COLUMNS, toProfile, fromPerson };
