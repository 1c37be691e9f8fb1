'use strict';

const { established, tighten, relax, reduce } = require('./plan.json');

class Supplier {
  constructor(name) {
    this.switchTo(established.indexOf(name) < 0 ? 'tightened' : 'normal');
  }

  switchTo(level) {
    this.level = level;
    this.lots = 0;
    this.streak = 0;
    this.bad = this.bad || [];
  }

  inspect(good) {
    this.lots += 1;
    this.streak = good ? this.streak + 1 : 0;
    if (!good && this.level === 'normal') this.bad.push(this.lots);
    switch (this.level) {
      case 'tightened':
        if (this.streak === relax.acceptedInARow) this.switchTo('normal');
        break;
      case 'reduced':
        if (!good) this.switchTo('normal');
        break;
      default: {
        const first = this.bad[this.bad.length - tighten.rejected];
        if (!good && first !== undefined && this.lots - first < tighten.of) this.switchTo('tightened');
        else if (this.streak === reduce.acceptedInARow) this.switchTo('reduced');
      }
    }
  }
}

function walk(events, onLot = () => {}) {
  const suppliers = {};
  for (const event of events) {
    const supplier = (suppliers[event.supplier] = suppliers[event.supplier] || new Supplier(event.supplier));
    if (event.type === 'lot') {
      onLot(event, supplier.level);
      supplier.inspect(event.result === 'accepted');
    } else if (event.traced) {
      supplier.switchTo('tightened');
      supplier.bad = [];
    }
  }
  return suppliers;
}

exports.replay = (events) => {
  const used = [];
  walk(events, ({ supplier, lot }, level) => used.push({ supplier, lot, level }));
  return used;
};

exports.nextLevels = (events) => {
  const next = {};
  for (const [name, supplier] of Object.entries(walk(events))) next[name] = supplier.level;
  return next;
};
