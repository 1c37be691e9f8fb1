'use strict';

/** What the promise gives, or null when it fails: for all that the page can do without. */
const orNull = (promise) => promise.catch(() => null);

async function loadReviews(api, id) {
  const authors = new Map();
  const authorOf = (authorId) => {
    if (!authors.has(authorId)) authors.set(authorId, orNull(api.author(authorId)));
    return authors.get(authorId);
  };
  const reviews = await api.reviews(id);
  return Promise.all(reviews.map(async ({ stars, text, authorId }) => {
    const author = await authorOf(authorId);
    return { stars, text, author: author && author.name };
  }));
}

async function loadBasket(api, userLoading) {
  const user = await userLoading;
  if (!user) return null;
  const { items } = await api.basket(user.id);
  return { count: items.length };
}

/** The parts that depend on the product; a price also needs to know who asks. */
async function loadProduct(api, id, userLoading) {
  const product = await api.product(id);
  if (!product) return null;
  const shown = { id: product.id, name: product.name, withdrawn: product.withdrawn };
  const priceLoading = userLoading.then((user) => api.price(id, user ? user.group : 'guest'));
  if (product.withdrawn) {
    await orNull(priceLoading);
    return { ...shown, price: null, reviews: [] };
  }
  const [price, reviews] = await Promise.all([priceLoading, orNull(loadReviews(api, id))]);
  return { ...shown, price, reviews };
}

async function loadPage({ session, api }, id) {
  if (!id) return null;
  const userLoading = session ? orNull(api.user(session)) : Promise.resolve(null);
  const [product, user, basket] = await Promise.all([
    loadProduct(api, id, userLoading),
    userLoading,
    orNull(loadBasket(api, userLoading)),
  ]);
  return product && { ...product, user: user && { name: user.name }, basket };
}

module.exports = { loadPage };
