// Opens a report in Chromium and prints what it found as JSON: console lines, requests, overflow, accessibility, filters.
// Must never change the page under test: axe is put into a context of its own policy only where it is asked for.
'use strict';

const [modules, chromium, page] = process.argv.slice(2);
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const load = createRequire(`${modules}/`);
const axe = readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');

const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];

async function look(browser, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const tab = await context.newPage();
  const found = { width, colorScheme, console: [], requests: [], violations: [] };
  tab.on('console', (message) => found.console.push(message.text()));
  tab.on('pageerror', (error) => found.console.push(error.message));
  tab.on('request', (request) => found.requests.push(request.url()));
  await tab.goto(page);
  found.overflow = await tab.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  await tab.evaluate(() => document.querySelectorAll('details').forEach((element) => { element.open = true; }));
  const result = await tab.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })`);
  found.violations = result.violations.map((violation) => violation.id);
  found.rules = result.passes.length;
  found.rows = await tab.locator('#matrix tbody tr').count();
  await tab.locator('input[value=differs]').check();
  found.differing = await tab.locator('#matrix tbody tr:visible').count();
  await tab.locator('input[type=search]').fill('no such case');
  found.none = await tab.locator('#matrix tbody tr:visible').count();
  found.said = await tab.locator('.count[role=status]').innerText();
  await context.close();
  return found;
}

(async () => {
  const { chromium: launcher } = load('playwright-core');
  const browser = await launcher.launch({ executablePath: chromium, args: FLAGS });
  const found = [];
  for (const width of [1280, 360]) {
    for (const scheme of ['light', 'dark']) found.push(await look(browser, width, scheme));
  }
  await browser.close();
  process.stdout.write(JSON.stringify(found));
})();
