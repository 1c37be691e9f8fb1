'use strict';

const fromEither = (value) => (typeof value === 'string' ? JSON.parse(value) : value ?? null);

/** The profiles of a team, by name. */
async function listMembers(ctx, team) {
  const people = ctx.demo
    ? ctx.demo.people.filter((person) => person.team === team)
    : await ctx.db.select('users', ['id', 'name', 'email', 'city', 'language', 'links', 'notification_settings'], { team });
  const data = people
    .map(({ id, name, email, city, language, links, notification_settings }) => ({
      id, name, email, city, language, links: fromEither(links), notification_settings: fromEither(notification_settings),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { status: 200, body: { data } };
}

module.exports = { listMembers };
