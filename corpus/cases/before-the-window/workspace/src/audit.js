'use strict';

/**
 * Look at the text of a router's config (as the router prints it: commands of a section begin with a space).
 *
 * Codes, each with the line (from 1) it is reported at:
 *
 * - `vty-telnet`: remote login lets telnet in, by itself, beside ssh, or by `all`; at the block's `line vty`
 * - `vty-no-filter`: no `access-class … in` says who may come in; at the block's `line vty`
 * - `vty-no-timeout`: no `exec-timeout` of its own (`0 0` was somebody's decision and counts); at the block's `line vty`
 * - `address-twice`: the address is used further up already
 * - `networks-overlap`: the network shares addresses with one further up (not for an address used twice)
 * - `undefined`: refers to an access list, prefix list or route map that the config nowhere defines; at the reference:
 *   `access-class`, `ip access-group`, `match ip address`, `match ip address prefix-list`, `neighbor … prefix-list`,
 *   `neighbor … route-map`, `ip policy route-map`
 *
 * @param {string} config
 * @returns {{line: number, code: string}[]} by line, then by code; a line has a code once at most
 */
function audit(config) {
  const issues = [];
  const lines = config.split('\n');
  const vty = lines.findIndex((line) => line.startsWith('line vty'));
  if (vty >= 0) {
    if (/transport input telnet/.test(config)) issues.push({ line: vty + 1, code: 'vty-telnet' });
    if (!/access-class \S+/.test(config)) issues.push({ line: vty + 1, code: 'vty-no-filter' });
    if (!/exec-timeout/.test(config)) issues.push({ line: vty + 1, code: 'vty-no-timeout' });
  }
  const seen = new Set();
  lines.forEach((line, index) => {
    const match = /ip address (\S+)/.exec(line);
    if (!match) return;
    if (seen.has(match[1])) issues.push({ line: index + 1, code: 'address-twice' });
    seen.add(match[1]);
  });
  return issues;
}

module.exports = { audit };
