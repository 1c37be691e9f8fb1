'use strict';

/** How often people write about each category; see README.md. */
function tally(tickets, categories) {
  return categories.map(({ name, words }) => {
    const pattern = new RegExp(words.join('|'), 'g');
    const found = tickets.filter((ticket) => pattern.test(ticket.body));
    const hits = tickets.reduce((sum, ticket) => sum + (ticket.body.match(pattern) ?? []).length, 0);
    return { name, tickets: found.length, hits };
  });
}

module.exports = { tally };
