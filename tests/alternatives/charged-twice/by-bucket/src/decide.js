'use strict';

const PLANS = {
  duplicate: ['cancel-extras', 'refund', 'note', 'reply', 'file-gap'],
  team: ['explain-seats', 'note', 'reply', 'file-gap'],
  failed: ['offer-portal', 'note', 'reply', 'file-gap'],
  'self-service': ['offer-portal', 'note', 'reply', 'file-gap'],
  product: ['refund', 'note', 'reply', 'file-gap'],
};

class Desk {
  constructor(account, complaint) {
    this.account = account;
    this.complaint = complaint;
    this.running = account.subscriptions.filter((one) => one.status === 'active');
  }

  /** Subscriptions that the same single person had bought before. */
  repeated() {
    const earlier = (one, other) => other.started < one.started || (other.started === one.started && other.id < one.id);
    const same = (one, other) => one.plan === other.plan && String(one.members) === String(other.members);
    const single = this.running.filter((one) => one.quantity === 1 && one.members.length === 1);
    return single.filter((one) => single.some((other) => other !== one && same(one, other) && earlier(one, other)));
  }

  seats() {
    const people = new Set(this.running.flatMap((one) => one.members));
    return this.running.reduce((sum, one) => sum + one.quantity, 0) > 1 || people.size > 1;
  }

  classify() {
    switch (this.complaint.says) {
      case 'payment-fails': return 'failed';
      case 'cannot-cancel': return 'self-service';
      case 'does-not-work': return 'product';
      default:
    }
    if (this.repeated().length) return 'duplicate';
    return this.seats() ? 'team' : 'failed';
  }

  owed(charge) {
    if (charge.disputed || charge.status !== 'succeeded') return 0;
    return charge.amountCents - charge.refundedCents;
  }

  decide() {
    const bucket = this.classify();
    const cancel = bucket === 'duplicate'
      ? this.repeated().sort((a, b) => a.started.localeCompare(b.started)).map((one) => one.id)
      : [];
    const refunds = [];
    for (const charge of this.account.charges) {
      const concerned = bucket === 'duplicate' ? cancel.includes(charge.subscription)
        : bucket === 'product' && Boolean(this.complaint.incident) && charge.id === this.complaint.charge;
      if (concerned && this.owed(charge) > 0) refunds.push({ charge: charge.id, amountCents: this.owed(charge) });
    }
    let gap = { duplicate: 'guard', team: 'seats', product: 'product' }[bucket] || null;
    if (!gap && !this.account.portal) gap = 'portal';
    const idle = new Set();
    if (!cancel.length) idle.add('cancel-extras');
    if (!refunds.length) idle.add('refund');
    if (!gap) idle.add('file-gap');
    const steps = PLANS[bucket].filter((step) => !idle.has(step));
    const unusual = this.account.subscriptions.some((one) => one.status !== 'canceled'
      && (one.interval !== 'month' || one.quantity !== 1 || one.members.length !== 1 || one.prorated));
    if (unusual || bucket === 'team') steps.unshift('verify-contract');
    const money = refunds.reduce((sum, each) => sum + each.amountCents, 0);
    return { bucket, cancel, refunds, gap, steps, note: `Customer ${this.account.customer.id}, ${bucket}, ${money} cents` };
  }
}

exports.decide = (account, complaint) => new Desk(account, complaint).decide();
