import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { RateLimiter } from '../../../src/api/limits/rate-limiter.js';
import { TallySharing, type TallyStore } from '../../../src/api/limits/tally-sharing.js';
import { RateCounters } from '../../../src/domain/access/rate-counters.js';
import { parseRateLimits } from '../../../src/domain/access/rate-limit.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { servers } from '../../support/servers.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;

/** What one process has: counters, a limiter, its own connection, and how often it used it. */
interface Participant {
  sharing: TallySharing;
  database: Database;
  calls: { tell: number; hear: number };
  failures: unknown[];
  /** Seconds that a caller is told to wait; 0 where the request passes. */
  ask(): number;
}

describe('processes that share their counts', () => {
  let uri: string;
  const databases: Database[] = [];
  beforeEach(() => {
    const url = new URL(servers().mongodbUri);
    url.pathname = `/t${randomBytes(6).toString('hex')}`;
    uri = url.href;
  });
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close();
  });

  async function participant(limits = '1000/1d'): Promise<Participant> {
    const database = await connectDatabase(uri);
    databases.push(database);
    const calls = { tell: 0, hear: 0 };
    const failures: unknown[] = [];
    const { rateTallies } = database;
    const store: TallyStore = {
      tell(...told) {
        calls.tell += 1;
        return rateTallies.tell(...told);
      },
      toldByOthers(...heard) {
        calls.hear += 1;
        return rateTallies.toldByOthers(...heard);
      },
      deleteExpired: (now) => rateTallies.deleteExpired(now),
    };
    const counters = new RateCounters();
    const block = { first_ms: 24 * HOUR, longest_ms: 48 * HOUR };
    const limiter = new RateLimiter('token', parseRateLimits(limits), counters, block, () => {});
    return {
      database,
      calls,
      failures,
      sharing: new TallySharing(counters, store, (error) => failures.push(error)),
      ask: () => Number(limiter.consume('ada').refusal?.headers['retry-after'] ?? 0),
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

  it('share blocks, and how often a caller was refused', async () => {
    const [first, second] = [await participant('1/1s'), await participant('1/1s')];
    await first.sharing.start();
    while (first.ask() <= 1);
    await first.sharing.stop();
    await second.sharing.start();
    const waits = Array.from({ length: 10 }, () => second.ask());
    assert.ok(
      Number(waits[0]) > 86_390 && Number(waits[0]) <= 86_400,
      'the first block, a day, by the other',
    );
    assert.equal(waits.at(-1), 2 * 86_400, 'the second one, twice as long');
    await second.sharing.stop();
  });

  it('write once for many requests, and leave the database alone while there is nothing new', async () => {
    const [idle, busy] = [await participant(), await participant()];
    await idle.sharing.start();
    await busy.sharing.start();
    for (let times = 0; times < 500; times++) idle.ask();
    // The first exchange has begun with the first request; the second one takes the rest.
    await until(
      () => idle.calls.tell,
      (times) => times === 2,
    );
    const { hear } = idle.calls;
    await until(
      () => {
        busy.ask();
        return busy.calls.tell;
      },
      (times) => times === 4,
    );
    assert.equal(idle.calls.tell, 2);
    assert.ok(idle.calls.hear - hear <= 1, 'of its second exchange');
    await idle.sharing.stop();
    await busy.sharing.stop();
    assert.equal(idle.calls.tell, 2, 'everything has been told');
  });

  it('remove what a process has left behind that is gone, once its windows have ended', async () => {
    const { sharing, database } = await participant();
    const now = Date.now();
    const tally = { key: 'ada', count: 1, blocked_until: 0 };
    await database.rateTallies.tell('long-gone', [{ ...tally, ends_at: now - HOUR }], now - 2 * HOUR);
    await database.rateTallies.tell('just-gone', [{ ...tally, ends_at: now + HOUR }], now);
    await sharing.start();
    const left = await database.rateTallies.toldByOthers('', 0);
    assert.deepEqual(left, [{ process: 'just-gone', tallies: [{ ...tally, ends_at: now + HOUR }] }]);
    await sharing.stop();
  });

  it('go on with what they know where the database is gone, and say so', async () => {
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
