'use strict';

function createQueue() {
  const jobs = [];
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  return {
    async push(job) {
      await soon();
      jobs.push(JSON.parse(JSON.stringify(job)));
    },
    // Gives undefined when the queue is empty.
    async shift() {
      await soon();
      return jobs.shift();
    },
  };
}

module.exports = { createQueue };
