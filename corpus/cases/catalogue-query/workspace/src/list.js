'use strict';

const schema = require('./schema.json');

/**
 * Answer GET /products?<queryString>.
 *
 * Products that compare equal stay in the catalogue's order. A page past the end is empty and not an error; without
 * any match there are 0 pages. The catalogue itself is never changed.
 *
 * @param {object[]} items the whole catalogue, see data/products.json
 * @param {string} queryString without the question mark
 * @returns {{status: number, body: object}} see docs/examples.http
 */
function list(items, queryString) {
  const query = new URLSearchParams(queryString);
  const page = Number(query.get('page') || 1);
  const perPage = Number(query.get('per_page') || schema.paging.defaultPerPage);
  const totalPages = Math.ceil(items.length / perPage);
  const link = (number) => `${schema.path}?page=${number}&per_page=${perPage}`;
  return {
    status: 200,
    body: {
      data: items.slice((page - 1) * perPage, page * perPage),
      meta: { total: items.length, page, per_page: perPage, total_pages: totalPages },
      links: { self: link(page), next: link(page + 1), last: link(totalPages) },
    },
  };
}

module.exports = { list };
