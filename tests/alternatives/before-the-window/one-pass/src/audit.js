'use strict';

const IPV4 = /^ ip address (\d+)\.(\d+)\.(\d+)\.(\d+) (\d+)\.(\d+)\.(\d+)\.(\d+)/;

const DEFINITIONS = [
  [/^access-list (\S+) /, 'acl'],
  [/^ip access-list (?:standard|extended) (\S+)/, 'acl'],
  [/^ip prefix-list (\S+) /, 'pfx'],
  [/^route-map (\S+)/, 'rmap'],
];

const REFERENCES = [
  [/^ access-class (\S+) /, 'acl'],
  [/^ ip access-group (\S+) /, 'acl'],
  [/^ match ip address prefix-list (.+)$/, 'pfx'],
  [/^ match ip address (?!prefix-list )(.+)$/, 'acl'],
  [/^ neighbor \S+ prefix-list (\S+) /, 'pfx'],
  [/^ neighbor \S+ route-map (\S+) /, 'rmap'],
  [/^ ip policy route-map (\S+)/, 'rmap'],
];

const pack = (bytes) => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

class Auditor {
  constructor(text) {
    this.lines = text.replace(/\r/g, '').split('\n').map((line) => line.trimEnd().replace(/^\s+/, ' '));
    this.found = new Map();
    this.known = new Set();
    this.networks = [];
    this.vty = null;
  }

  report(line, code) {
    this.found.set(`${String(line).padStart(6, '0')} ${code}`, { line, code });
  }

  closeVty() {
    if (!this.vty) return;
    const { line, telnet, filter, timeout } = this.vty;
    if (telnet) this.report(line, 'vty-telnet');
    if (!filter) this.report(line, 'vty-no-filter');
    if (!timeout) this.report(line, 'vty-no-timeout');
    this.vty = null;
  }

  insideVty(line) {
    if (/^ transport input .*\b(telnet|all)\b/.test(line)) this.vty.telnet = true;
    if (/^ access-class \S+ in\b/.test(line)) this.vty.filter = true;
    if (/^ exec-timeout \d/.test(line)) this.vty.timeout = true;
  }

  address(line, number) {
    const match = IPV4.exec(line);
    if (!match) return;
    const host = pack(match.slice(1, 5));
    const mask = pack(match.slice(5, 9));
    const shares = (other) => {
      const common = other.mask & mask;
      return (other.host & common) === (host & common);
    };
    if (this.networks.some((other) => other.host === host)) this.report(number, 'address-twice');
    else if (this.networks.some(shares)) this.report(number, 'networks-overlap');
    this.networks.push({ host, mask });
  }

  references(line, number) {
    for (const [pattern, kind] of REFERENCES) {
      const match = pattern.exec(line);
      if (!match) continue;
      for (const name of match[1].split(' ')) if (!this.known.has(`${kind} ${name}`)) this.report(number, 'undefined');
    }
  }

  run() {
    for (const line of this.lines) {
      for (const [pattern, kind] of DEFINITIONS) {
        const match = pattern.exec(line);
        if (match) this.known.add(`${kind} ${match[1]}`);
      }
    }
    this.lines.forEach((line, index) => {
      if (!line.startsWith(' ')) {
        this.closeVty();
        if (line.startsWith('line vty')) this.vty = { line: index + 1 };
        return;
      }
      if (this.vty) this.insideVty(line);
      this.address(line, index + 1);
      this.references(line, index + 1);
    });
    this.closeVty();
    return [...this.found.keys()].sort().map((key) => this.found.get(key));
  }
}

exports.audit = (config) => new Auditor(config).run();
