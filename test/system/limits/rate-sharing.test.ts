import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { RateLimiter } from '../../../src/api/limits/rate-limiter.js';
import { RateSharing, type RateStore } from '../../../src/api/limits/rate-sharing.js';
import { parseRateLimits } from '../../../src/domain/access/limits/rate-limit.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { promised } from '../../support/promised.js';
import { databaseIn, servers } from '../../support/servers.js';
import { until } from '../../support/until.js';

const DAY_S = 24 * 3_600;

/** Parts of one process: a limiter, its own connection, and how often it used it. */
interface Participant {
  sharing: RateSharing;
  database: Database;
  calls: { tell: number; open: number };
  failures: unknown[];
  /** Seconds that a caller is told to wait; 0 if the request passes. */
  ask(caller?: string): number;
}

describe('processes that share their counts', () => {
  let uri: string;
  const databases: Database[] = [];
  beforeEach(() => {
    uri = databaseIn(servers().mongodbUri, `t${randomBytes(6).toString('hex')}`);
  });
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close();
  });

  async function participant(limits = '1000/1d', change = (store: RateStore) => store): Promise<Participant> {
    const database = await connectDatabase(uri);
    databases.push(database);
    const calls = { tell: 0, open: 0 };
    const failures: unknown[] = [];
    const { rateWindows } = database;
    const store = change({
      tell(news, watched) {
        calls.tell += 1;
        return rateWindows.tell(news, watched);
      },
      open(now) {
        calls.open += 1;
        return rateWindows.open(now);
      },
    });
    const block = { firstMs: DAY_S * 1_000, longestMs: 2 * DAY_S * 1_000 };
    const limiter = new RateLimiter('token', parseRateLimits(limits), block, () => {});
    return {
      database,
      calls,
      failures,
      sharing: new RateSharing(limiter.tables, store, (error) => failures.push(error)),
      ask: (caller = 'ada') => Number(limiter.consume(caller).refusal?.headers['retry-after'] ?? 0),
    };
  }

  it('know at the start what has been counted, by processes that have ended too', async () => {
    const [first, second] = [await participant('3/1d'), await participant('3/1d')];
    await first.sharing.start();
    assert.equal(first.ask(), 0);
    assert.equal(first.ask(), 0);
    await first.sharing.stop();
    await second.sharing.start();
    assert.equal(second.ask(), 0);
    assert.notEqual(second.ask(), 0);
    await second.sharing.stop();
  });

  it('lose nothing that any of them counted, though all tell at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => participant()));
    for (const { sharing } of all) await sharing.start();
    for (let times = 0; times < 25; times++) for (const { ask } of all) ask();
    await Promise.all(all.map(({ sharing }) => sharing.stop()));
    const windows = await (await participant()).database.rateWindows.open(Date.now());
    assert.deepEqual(
      windows.map(({ columns }) => columns),
      [{ counts: { ada: 200 } }],
    );
  });

  it('hear of blocks that others made while they run', async () => {
    const [first, second] = [await participant('1/1s'), await participant('1/1s')];
    await first.sharing.start();
    await second.sharing.start();
    while (first.ask() <= 1);
    await until(
      () => {
        second.ask(`somebody ${Math.random()}`);
        return second.ask();
      },
      (wait) => wait > 1,
    );
    await first.sharing.stop();
    await second.sharing.stop();
  });

  it('share blocks with those that start later', async () => {
    const [first, second] = [await participant('1/1s'), await participant('1/1s')];
    await first.sharing.start();
    while (first.ask() <= 1);
    await first.sharing.stop();
    await second.sharing.start();
    const wait = second.ask();
    assert.ok(wait > DAY_S - 60 && wait <= DAY_S, `${wait}`);
    await second.sharing.stop();
  });

  it('write once for many requests, and not at all without new counts', async () => {
    const [idle, busy] = [await participant(), await participant()];
    await idle.sharing.start();
    await busy.sharing.start();
    for (let times = 0; times < 500; times++) idle.ask();
    // The first exchange has begun with the first request; the second one takes the rest.
    await until(
      () => idle.calls.tell,
      (times) => times === 2,
    );
    await until(
      () => {
        busy.ask();
        return busy.calls.tell;
      },
      (times) => times >= 4,
    );
    await idle.sharing.stop();
    await busy.sharing.stop();
    assert.deepEqual(idle.calls, { tell: 2, open: 1 });
  });

  it('make no request wait for a database that is silent, and tell nothing twice when it answers again', async () => {
    const { promise: silent, resolve: answer } = promised();
    let held = 0;
    const one = await participant('1000/1d', ({ tell, open }) => ({
      open,
      async tell(news, watched) {
        held += 1;
        await silent;
        return tell(news, watched);
      },
    }));
    await one.sharing.start();
    for (let times = 0; times < 100; times++) assert.equal(one.ask(), 0);
    await until(
      () => one.failures.length,
      (count) => count > 0,
    );
    assert.equal(held, 1, 'the first telling is still under way');
    answer();
    await one.sharing.stop();
    const [window] = await one.database.rateWindows.open(Date.now());
    assert.deepEqual(window?.columns, { counts: { ada: 100 } });
  });

  it('go on with what they know if the database is gone, and say so', async () => {
    const { sharing, database, failures, ask } = await participant('2/1d');
    await sharing.start();
    assert.equal(ask(), 0);
    await database.close();
    assert.equal(ask(), 0);
    assert.notEqual(ask(), 0);
    await sharing.stop();
    assert.ok(failures.length > 0);
  });
});
