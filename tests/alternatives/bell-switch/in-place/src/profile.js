'use strict';

const { toProfile } = require('./shape.js');

const COLUMNS = ['id', 'name', 'email', 'city', 'language', 'links', 'notification_settings'];
const EDITABLE = ['name', 'city', 'language', 'links', 'notification_settings'];
const TEXT = new Set(['links', 'notification_settings']);

const notFound = () => ({ status: 404, body: { error: 'not found' } });

function demoProfile({ id, name, email, city, language, links = null, notification_settings = null }) {
  return { id, name, email, city, language, links, notification_settings };
}

async function getProfile(ctx) {
  if (ctx.demo) {
    const person = ctx.demo.people.find(({ id }) => id === ctx.userId);
    return person ? { status: 200, body: { data: demoProfile(person) } } : notFound();
  }
  const [row] = await ctx.db.select('users', COLUMNS, { id: ctx.userId });
  return row ? { status: 200, body: { data: toProfile(row) } } : notFound();
}

/** Change what people may change about themselves, and answer with the profile as it is then. */
async function updateProfile(ctx, changes) {
  const allowed = Object.fromEntries(Object.entries(changes).filter(([name]) => EDITABLE.includes(name)));
  if (ctx.demo) {
    const person = ctx.demo.people.find(({ id }) => id === ctx.userId);
    if (!person) return notFound();
    const { id, name, email, city, language, links = null, notification_settings = null } = { ...person, ...allowed };
    return { status: 200, body: { data: { id, name, email, city, language, links, notification_settings } } };
  }
  const values = {};
  for (const [name, value] of Object.entries(allowed)) {
    values[name] = TEXT.has(name) && value !== null ? JSON.stringify(value) : value;
  }
  await ctx.db.update('users', { id: ctx.userId }, values);
  const [row] = await ctx.db.select('users', ['id', 'name', 'email', 'city', 'language', 'links', 'notification_settings'], { id: ctx.userId });
  return row ? { status: 200, body: { data: toProfile(row) } } : notFound();
}

module.exports = { getProfile, updateProfile };
