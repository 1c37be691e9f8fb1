'use strict';

/** New settings: the old ones with a change applied; see README.md. */
function apply(settings, change) {
  return Object.assign(settings, change);
}

module.exports = { apply };
