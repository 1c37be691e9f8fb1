'use strict';

module.exports = {
  theme: { colour: 'blue', font: { family: 'serif', size: 14 } },
  signature: { text: 'Sent by hand', since: new Date(0) },
  quiet: [],
  sound: true,
};
