'use strict';

/** The profiles of a team, by name. */
async function listMembers(ctx, team) {
  const people = ctx.demo
    ? ctx.demo.people.filter((person) => person.team === team)
    : await ctx.db.select('users', ['id', 'name', 'email', 'city', 'language', 'links'], { team });
  const data = people
    .map(({ id, name, email, city, language, links }) => ({
      id, name, email, city, language, links: typeof links === 'string' ? JSON.parse(links) : links || null,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { status: 200, body: { data } };
}

module.exports = { listMembers };
