'use strict';

/** Calls of one request: each is made when it is first wanted, and once. */
class Request {
  constructor(api) {
    this.api = api;
    this.made = new Map();
  }

  once(service, ...args) {
    const key = JSON.stringify([service, ...args]);
    let promise = this.made.get(key);
    if (!promise) {
      promise = Promise.resolve().then(() => this.api[service](...args));
      promise.catch(() => {});
      this.made.set(key, promise);
    }
    return promise;
  }

  async optional(service, ...args) {
    try {
      return await this.once(service, ...args);
    } catch {
      return undefined;
    }
  }
}

async function customer(request, session) {
  if (!session) return undefined;
  return request.optional('user', session);
}

async function reviewsOf(request, id) {
  const list = await request.optional('reviews', id);
  if (!list) return null;
  const authors = list.map((review) => request.optional('author', review.authorId));
  const shown = [];
  for (let index = 0; index < list.length; index++) {
    const author = await authors[index];
    shown.push({ stars: list[index].stars, text: list[index].text, author: author ? author.name : null });
  }
  return shown;
}

exports.loadPage = async function loadPage({ session, api }, id) {
  if (id === undefined || id === null || id === '') return null;
  const request = new Request(api);
  const who = customer(request, session);
  const basket = who.then((user) => (user ? request.optional('basket', user.id) : undefined));
  const product = await request.once('product', id);
  if (!product) return null;

  const page = { id: product.id, name: product.name, withdrawn: product.withdrawn, price: null, reviews: [] };
  if (!product.withdrawn) {
    const reviews = reviewsOf(request, id);
    const user = await who;
    page.price = await request.once('price', id, user ? user.group : 'guest');
    page.reviews = await reviews;
  }
  const user = await who;
  const content = await basket;
  return { ...page, user: user ? { name: user.name } : null, basket: content ? { count: content.items.length } : null };
};
