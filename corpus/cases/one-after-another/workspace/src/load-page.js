'use strict';

const cache = new Map();

async function cached(name, load) {
  if (!cache.has(name)) cache.set(name, await load());
  return cache.get(name);
}

/** Load what the product page shows, see README.md. */
async function loadPage({ session, api }, id) {
  const user = await cached('user', () => api.user(session));
  const basket = await cached('basket', () => api.basket(user.id));
  const product = await cached(`product ${id}`, () => api.product(id));
  if (!id || !product) return null;
  const price = await cached(`price ${id}`, () => api.price(id, user.group));
  const reviews = await cached(`reviews ${id}`, () => api.reviews(id));
  for (const review of reviews) {
    review.author = await api.author(review.authorId);
  }
  return { ...product, price, user, basket: { count: basket.items.length }, reviews };
}

module.exports = { loadPage };
