'use strict';

const { COLUMNS, toProfile, fromPerson } = require('./shape.js');

const EDITABLE = ['name', 'city', 'language', 'links', 'notification_settings'];
const TEXT = new Set(['links', 'notification_settings']);

const answer = (data) => (data ? { status: 200, body: { data } } : { status: 404, body: { error: 'not found' } });

async function stored(ctx) {
  const [row] = await ctx.db.select('users', COLUMNS, { id: ctx.userId });
  return row && toProfile(row);
}

function played(ctx, changes) {
  const person = ctx.demo.people.find(({ id }) => id === ctx.userId);
  return person && fromPerson(Object.assign(person, changes));
}

async function getProfile(ctx) {
  return answer(ctx.demo ? played(ctx, {}) : await stored(ctx));
}

async function updateProfile(ctx, changes) {
  const allowed = Object.fromEntries(Object.entries(changes).filter(([name]) => EDITABLE.includes(name)));
  if (ctx.demo) return answer(played(ctx, allowed));
  const values = {};
  for (const [name, value] of Object.entries(allowed)) {
    values[name] = TEXT.has(name) && value !== null ? JSON.stringify(value) : value;
  }
  await ctx.db.update('users', { id: ctx.userId }, values);
  return answer(await stored(ctx));
}

module.exports = { getProfile, updateProfile };
