'use strict';

const { COLUMNS, toProfile, fromPerson } = require('./shape.js');

async function listMembers(ctx, team) {
  const data = ctx.demo
    ? ctx.demo.people.filter((person) => person.team === team).map(fromPerson)
    : (await ctx.db.select('users', COLUMNS, { team })).map(toProfile);
  return { status: 200, body: { data: data.sort((a, b) => (a.name < b.name ? -1 : 1)) } };
}

module.exports = { listMembers };
