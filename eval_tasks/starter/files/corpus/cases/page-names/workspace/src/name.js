'use strict';

/** Under which name a new page is found; see README.md. */
function pageName(title, taken) {
  const name = title.toLowerCase().replace(/[^a-z0-9]/g, '-');
  return taken.includes(name) ? `${name}-2` : name;
}

module.exports = { pageName };
