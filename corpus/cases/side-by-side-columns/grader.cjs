'use strict';

const MAX_ROWS_HELD = 500;
const SCHEMA = new Set(['addColumn', 'dropColumn', 'renameColumn', 'createIndex']);

const list = (value) => (Array.isArray(value) ? value.slice(0, 50) : []);

// Plays a plan as steps.md describes it, with traffic at every pause: between and inside the steps.
class Site {
  constructor(change, rows) {
    this.change = change;
    this.columns = new Map([[change.from, change.type]]);
    this.indexes = new Set(change.indexed ? [change.from] : []);
    this.rows = rows.map((value) => ({ value, cells: { [change.from]: value } }));
    this.running = [{ reads: change.from, writes: [change.from] }];
    this.problems = {};
    this.clock = 0;
  }

  report(code, detail) {
    (this.problems[code] = this.problems[code] || new Set()).add(detail);
  }

  known(version) {
    return [version.reads, ...version.writes].every((column) => this.columns.has(column));
  }

  write(version, row, value) {
    row.value = value;
    for (const column of version.writes) row.cells[column] = value;
  }

  traffic(where) {
    for (const version of this.running) {
      if (!this.known(version)) {
        this.report('failed', where);
        continue;
      }
      const row = { value: null, cells: Object.fromEntries([...this.columns.keys()].map((column) => [column, null])) };
      this.write(version, row, `new ${(this.clock += 1)}`);
      this.rows.push(row);
      // While two versions run each row is written once only: a plan can't help what the old one changes afterwards.
      if (this.running.length === 1 && this.rows.length > 1) {
        this.write(version, this.rows[(this.clock * 37) % this.rows.length], `changed ${this.clock}`);
        this.write(version, this.rows[this.rows.length - 2], `corrected ${this.clock}`);
      }
    }
    for (const version of this.running.filter((version) => this.known(version))) {
      if (this.change.indexed && !this.indexes.has(version.reads)) this.report('slow', where);
      if (this.rows.some((row) => row.cells[version.reads] !== row.value)) this.report('lost', where);
    }
  }

  copy(statement, transactional, where) {
    const holds = (row, condition) => {
      const cell = row.cells[condition.column];
      if (condition.differsFrom) return cell !== row.cells[condition.differsFrom];
      return condition.is === 'null' ? cell === null : cell !== null;
    };
    for (const { is, differsFrom } of list(statement.where).map(Object)) {
      if (is !== 'null' && is !== 'not-null' && !this.columns.has(differsFrom)) this.report('refused', 'unknown condition');
    }
    // Twice what all rows need: whoever is still finding some then finds them for ever.
    const enough = 2 * Math.ceil(this.rows.length / Math.max(1, Number(statement.limit) || 1)) + 20;
    let held = 0;
    for (let run = 0; run < enough; run += 1) {
      const found = this.rows.filter((row) => list(statement.where).every((condition) => holds(row, Object(condition))));
      const batch = statement.limit === null ? found : found.slice(0, statement.limit);
      held += batch.length;
      if (batch.length > MAX_ROWS_HELD) this.report('big', where);
      else if (transactional && held > MAX_ROWS_HELD) this.report('held', where);
      for (const row of batch) row.cells[statement.to] = row.cells[statement.from];
      if (!statement.repeat || batch.length === 0) return;
      if (!transactional) this.traffic(`${where}, between batches`);
    }
    this.report('endless', where);
  }

  schema(statement, transactional, where) {
    const { op, column } = statement;
    if (op === 'createIndex') {
      if (!statement.concurrently) this.report('blocked', where);
      else if (transactional) this.report('impossible', where);
      this.indexes.add(column);
    } else if (op === 'addColumn') {
      if (statement.nullable === false) this.report('refused', 'column that is not nullable');
      this.columns.set(column, statement.type);
      for (const row of this.rows) row.cells[column] = null;
    } else {
      const cells = this.rows.map((row) => row.cells[column]);
      const type = this.columns.get(column);
      this.columns.delete(column);
      this.rows.forEach((row) => delete row.cells[column]);
      if (op === 'renameColumn') {
        this.columns.set(statement.to, type);
        this.rows.forEach((row, index) => (row.cells[statement.to] = cells[index]));
        if (this.indexes.delete(column)) this.indexes.add(statement.to);
      }
    }
  }

  migrate(step, where) {
    const statements = list(step.statements).map(Object);
    const kinds = new Set(statements.map((statement) => SCHEMA.has(statement.op)));
    if (kinds.size > 1) this.report('mixed', where);
    for (const statement of statements) {
      if (statement.table !== this.change.table) this.report('refused', 'another table');
      if (statement.op === 'copy') this.copy(statement, step.transactional, where);
      else if (SCHEMA.has(statement.op)) this.schema(statement, step.transactional, where);
      else this.report('refused', `unknown statement ${statement.op}`);
      if (!step.transactional) this.traffic(where);
    }
  }

  play(plan) {
    this.traffic('before the first step');
    list(plan).map(Object).forEach((step, number) => {
      const where = `step ${number + 1}`;
      if (step.kind === 'deploy') {
        const next = { reads: step.reads, writes: list(step.writes) };
        this.running.push(next);
        this.traffic(`${where}, rolling`);
        this.running = [next];
      } else if (step.kind === 'migration') this.migrate(step, where);
      else this.report('refused', `unknown step ${step.kind}`);
      this.traffic(`after ${where}`);
    });
    return this;
  }

  found(code) {
    return [...(this.problems[code] || [])];
  }
}

const names = (count, gap) => Array.from({ length: count }, (_, index) => (index % gap === 2 ? null : `name ${index}`));
const members = { table: 'members', from: 'nick', to: 'display_name', type: 'text', indexed: false };
const orders = { table: 'orders', from: 'ref', to: 'reference', type: 'varchar(40)', indexed: true };

module.exports = async ({ subject, assert }) => {
  const play = async (change, rows) => {
    const { value } = await subject.attempt((load, change) => load('./plan.js').renamePlan(change), change);
    return new Site(change, rows).play(value);
  };
  const plain = await play(members, names(1300, 9));
  const indexed = await play(orders, names(1040, 50));
  const found = (code) => [...plain.found(code), ...indexed.found(code)];
  assert.deepStrictEqual(plain.columns.has('nick'), false, 'the old column is gone in the end');
  assert.deepStrictEqual(indexed.columns.get('reference'), 'varchar(40)', 'the new column has the type');
  assert.deepStrictEqual(found('failed'), [], 'no request fails at any moment');
  assert.deepStrictEqual(found('lost'), [], 'every version reads every value at any moment');
  assert.deepStrictEqual(found('refused'), [], 'the runner and the database accept every step');
  assert.deepStrictEqual(found('mixed'), [], 'schema and data statements are in different migrations');
  assert.deepStrictEqual(found('endless'), [], 'the copy ends although some rows have no value');
  assert.deepStrictEqual(found('big'), [], 'no statement holds more rows than allowed');
  assert.deepStrictEqual(found('held'), [], 'no transaction holds more rows than allowed');
  assert.deepStrictEqual(found('blocked'), [], 'the index is built without blocking writes');
  assert.deepStrictEqual(found('impossible'), [], 'a concurrent index is outside a transaction');
  assert.deepStrictEqual(found('slow'), [], 'lookups have an index before they use the new column');
};
