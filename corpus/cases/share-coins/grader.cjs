'use strict';

// Plays a script against one vault. A step is [name, ...args]; 'hook' lets a holder do steps of his own the first time coins
// move to or from him, and throw afterwards if asked to. What each step gave is handed back, with shares and coins at the end.
function play(load, { tax, script }) {
  const { createVault } = load('./vault.js');
  const balances = new Map();
  const watchers = new Map();
  const coins = (address) => balances.get(address) || 0n;
  const token = {
    balanceOf: coins,
    mint: (address, amount) => void balances.set(address, coins(address) + amount),
    watch: (address, watcher) => void watchers.set(address, watcher),
    transfer(from, to, amount) {
      if (coins(from) < amount) throw Object.assign(new Error('not enough coins'), { code: 'Funds' });
      const arriving = amount - (amount * BigInt(tax)) / 100n;
      balances.set(from, coins(from) - amount);
      balances.set(to, coins(to) + arriving);
      try {
        for (const address of [from, to]) if (watchers.has(address)) watchers.get(address)({ from, to, amount });
      } catch (error) {
        balances.set(to, coins(to) - arriving);
        balances.set(from, coins(from) + amount);
        throw error;
      }
    },
  };
  let time = 1000;
  const vault = createVault({ token, address: 'vault', now: () => time });
  const tricks = {
    mint: (who, amount) => token.mint(who, BigInt(amount)),
    send: (from, amount) => token.transfer(from, 'vault', BigInt(amount)),
    leave: (who) => vault.withdraw(who, vault.sharesOf(who)),
    time: (seconds) => void (time = seconds),
    hook: (who, steps, code) =>
      token.watch(who, () => {
        watchers.delete(who);
        steps.forEach(perform);
        if (code) throw Object.assign(new Error('hook'), { code });
      }),
  };
  function perform([name, ...args]) {
    try {
      const value = tricks[name] ? tricks[name](...args) : vault[name](...args);
      return value === undefined ? null : value;
    } catch (error) {
      return { code: error.code };
    }
  }
  const given = script.map(perform).filter((_, index) => script[index][0] === 'leave' || !tricks[script[index][0]]);
  const holders = ['jo', 'al', 'mo', 'di'];
  const shares = Object.fromEntries(holders.map((who) => [who, vault.sharesOf(who)]));
  const purse = Object.fromEntries(holders.map((who) => [who, String(coins(who))]));
  return { given, shares, purse, price: vault.sharePrice() };
}

const rich = (...who) => who.map((name) => ['mint', name, '1000000']);
const fails = (code) => ({ code });

module.exports = async ({ subject, assert }) => {
  async function run(script, tax = 0) {
    const { value } = await subject.attempt(play, { tax, script });
    return { given: [], shares: {}, purse: {}, ...Object(value) };
  }

  const plain = await run([...rich('jo'), ['sharePrice'], ['deposit', 'jo', '1500'], ['withdraw', 'jo', '600'], ['move', 'jo', 'al', '300'], ['sharePrice']]);
  assert.deepStrictEqual([plain.given, plain.shares.jo, plain.shares.al, plain.purse.jo], [['1000000', '1500', '600', null, '1000000'], '600', '300', '999100'], 'the first deposit gets a share for each coin');

  const gift = [...rich('jo', 'al'), ['deposit', 'jo', '1'], ['send', 'jo', '50000'], ['deposit', 'al', '50000']];
  assert.deepStrictEqual((await run(gift)).given, ['1', '50000'], 'coins that came past the books take nothing from the next depositor');
  const priced = await run([...rich('jo', 'al'), ['deposit', 'jo', '800'], ['send', 'al', '800'], ['sharePrice']]);
  assert.deepStrictEqual(priced.given, ['800', '1000000'], 'coins that came past the books leave the price alone');
  const unpaid = await run([...rich('jo', 'al'), ['deposit', 'jo', '800'], ['send', 'al', '800'], ['withdraw', 'jo', '800']]);
  assert.deepStrictEqual(unpaid.given, ['800', '800'], 'coins that came past the books are not paid out');

  const leave = await run([...rich('jo', 'al'), ['deposit', 'jo', '1000'], ['deposit', 'al', '5000'], ['withdraw', 'jo', '980'], ['withdraw', 'al', '4900']], 2);
  assert.deepStrictEqual([leave.given, leave.purse.jo, leave.purse.al], [['980', '4900', '980', '4900'], '999961', '999802'], 'only what arrived is credited, and all can leave with it');
  const shared = await run([...rich('jo', 'al'), ['deposit', 'jo', '1000'], ['reward', 'al', '500'], ['sharePrice'], ['withdraw', 'jo', '900']], 10);
  assert.deepStrictEqual(shared.given, ['900', null, '1500000', '1350'], 'a reward is worth what arrived of it');

  const rounded = await run([...rich('jo', 'al', 'mo'), ['deposit', 'jo', '1000'], ['reward', 'mo', '500'], ['deposit', 'al', '100'], ['withdraw', 'al', '66'], ['sharePrice']]);
  assert.deepStrictEqual(rounded.given, ['1000', null, '66', '99', '1501000'], 'shares and coins are rounded down');
  const large = 2n ** 96n;
  const exact = await run([['mint', 'jo', String(large + 3n)], ['mint', 'al', String(large)], ['deposit', 'jo', String(large + 3n)], ['reward', 'al', '7'], ['deposit', 'al', String(large - 7n)], ['withdraw', 'jo', String(large + 2n)]]);
  assert.deepStrictEqual(exact.given.filter(Boolean), ['79228162514264337593543950339', '79228162514264337593543950322', '79228162514264337593543950345'], 'large sums are exact');

  const drain = await run([...rich('jo', 'al'), ['deposit', 'al', '5000'], ['deposit', 'jo', '1000'], ['hook', 'jo', [['withdraw', 'jo', '1000']]], ['withdraw', 'jo', '1000'], ['withdraw', 'al', '5000']]);
  assert.deepStrictEqual([drain.purse.jo, drain.purse.al, drain.shares.jo], ['1000000', '1000000', '0'], 'a withdrawal inside a withdrawal pays once');
  const double = await run([...rich('mo', 'al'), ['deposit', 'al', '5000'], ['hook', 'mo', [['deposit', 'mo', '700']]], ['deposit', 'mo', '1000'], ['sharePrice']]);
  const credited = Number(double.shares.mo) + Number(double.purse.mo);
  assert.deepStrictEqual([credited, double.given[2]], [1000000, '1000000'], 'a deposit inside a deposit is credited once');
  const boost = await run([...rich('mo', 'al'), ['deposit', 'al', '5000'], ['hook', 'mo', [['reward', 'mo', '700']]], ['deposit', 'mo', '1000'], ['leave', 'al'], ['leave', 'mo']]);
  const [first, last] = boost.given.slice(2).map((amount) => (/^\d+$/.test(amount) ? Number(amount) : 0));
  assert.deepStrictEqual([first >= 5000, last > 0, first + last <= 6700], [true, true, true], 'a reward inside a deposit is not credited to the depositor');
  const handed = await run([...rich('jo', 'al'), ['deposit', 'al', '5000'], ['deposit', 'jo', '1000'], ['hook', 'jo', [['move', 'jo', 'di', '1000']]], ['withdraw', 'jo', '1000']]);
  assert.deepStrictEqual([handed.shares.jo, handed.shares.di, handed.purse.jo], ['0', '0', '1000000'], 'shares cannot be handed over while they are paid out');
  const swapped = await run([...rich('jo', 'al', 'mo'), ['deposit', 'al', '3000'], ['deposit', 'jo', '3000'], ['reward', 'mo', '6000'], ['hook', 'jo', [['deposit', 'jo', '4000']]], ['withdraw', 'jo', '3000'], ['withdraw', 'al', '3000']]);
  assert.deepStrictEqual(swapped.given.slice(3), ['6000', '6000'], 'a deposit inside a withdrawal takes nothing from others');

  const later = await run([...rich('jo', 'al'), ['deposit', 'jo', '1000'], ['hook', 'jo', [], 'E_HOOK'], ['withdraw', 'jo', '400'], ['withdraw', 'jo', '400'], ['deposit', 'al', '10']]);
  assert.deepStrictEqual(later.given.slice(2), ['400', '10'], 'the vault works on after a payout that failed');
  const broken = await run([...rich('jo', 'al'), ['deposit', 'al', '5000'], ['deposit', 'jo', '1000'], ['hook', 'jo', [], 'E_HOOK'], ['withdraw', 'jo', '400'], ['sharePrice'], ['reward', 'al', '600']]);
  assert.deepStrictEqual([broken.given.slice(2, 4), broken.shares.jo, broken.price, broken.purse.jo], [[fails('E_HOOK'), '1000000'], '1000', '1100000', '999000'], 'a payout that fails leaves everything as it was');
  const poor = await run([['mint', 'al', '9'], ...rich('jo'), ['deposit', 'jo', '1000'], ['deposit', 'al', '10'], ['sharePrice'], ['deposit', 'al', '9']]);
  assert.deepStrictEqual([poor.given, poor.shares.al], [['1000', fails('Funds'), '1000000', '9'], '9'], 'a deposit without coins leaves everything as it was');
  const over = await run([...rich('jo', 'al'), ['deposit', 'al', '5000'], ['deposit', 'jo', '1000'], ['withdraw', 'jo', '1001'], ['move', 'jo', 'al', '1001'], ['withdraw', 'jo', '400'], ['move', 'jo', 'al', '600']]);
  assert.deepStrictEqual([over.given.slice(2), over.shares.al], [[fails('Insufficient'), fails('Insufficient'), '400', null], '5600'], 'nobody disposes of more shares than he has');

  const clock = await run([...rich('jo'), ['time', 1200], ['deposit', 'jo', '500', { deadline: 1200 }], ['withdraw', 'jo', '100', { deadline: 1200 }]]);
  assert.deepStrictEqual(clock.given, ['500', '100'], 'an order is good in its last second');
  const late = await run([...rich('jo'), ['deposit', 'jo', '500'], ['time', 1201], ['deposit', 'jo', '500', { deadline: 1200 }], ['withdraw', 'jo', '100', { deadline: 1200 }]]);
  assert.deepStrictEqual([late.given.slice(1), late.shares.jo, late.purse.jo], [[fails('Expired'), fails('Expired')], '500', '999500'], 'an order is void after its last second');
  const least = await run([...rich('jo'), ['deposit', 'jo', '500'], ['withdraw', 'jo', '100', { minAmount: '100' }]]);
  assert.deepStrictEqual(least.given, ['500', '100'], 'exactly the minimum is paid out');
  const less = await run([...rich('jo'), ['deposit', 'jo', '500'], ['withdraw', 'jo', '100', { minAmount: '101' }], ['sharePrice']]);
  assert.deepStrictEqual([less.given.slice(1), less.shares.jo, less.purse.jo], [[fails('Slippage'), '1000000'], '500', '999500'], 'less than the minimum is not paid out');
};
