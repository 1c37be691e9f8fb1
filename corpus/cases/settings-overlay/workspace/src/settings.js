'use strict';

const { apply } = require('./patch.js');
const defaults = require('./defaults.js');

const saved = new Map();

const settingsOf = (user) => saved.get(user) ?? apply(defaults, {});

function save(user, change) {
  saved.set(user, apply(settingsOf(user), change));
}

module.exports = { settingsOf, save };
