import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { parseKeptDays } from '../../../src/domain/archive/kept-days.js';
import { connectDatabase } from '../../../src/models/database.js';
import { testEnvironment } from '../../support/system.js';

const DAY_MS = 24 * 3_600_000;
const LEDGER_DAYS = 3;

describe('up to when the archive has everything that Temporal has', () => {
  let uri: string;

  beforeEach(async () => {
    uri = (await testEnvironment())['MONGODB_URI'] ?? '';
  });

  /** What is said after a run of a process that archives for so many days. */
  async function afterRun(days: number): Promise<Date | undefined> {
    const archive = {
      records: parseKeptDays(`${days}`),
      payloads: parseKeptDays('1'),
      ledgerDays: LEDGER_DAYS,
    };
    const database = await connectDatabase(uri, { archive });
    try {
      await database.archive.advance(new Date());
      return await database.archive.completeUntil();
    } finally {
      await database.close();
    }
  }

  it('is known from the first run on', async () => {
    assert.ok(await afterRun(LEDGER_DAYS));
  });

  it('is not known until what was kept for less time than in Temporal is gone there, too', async () => {
    assert.equal(await afterRun(LEDGER_DAYS - 1), undefined);
    assert.equal(await afterRun(LEDGER_DAYS), undefined);
    const raw = await mongoose.createConnection(uri).asPromise();
    const earlier = async (days: number) => {
      const update = { $set: { outlasts_since: new Date(Date.now() - days * DAY_MS) } };
      const { matchedCount } = await raw.collection('archive_state').updateOne({}, update);
      assert.equal(matchedCount, 1);
    };
    try {
      await earlier(LEDGER_DAYS - 0.5);
      assert.equal(await afterRun(LEDGER_DAYS), undefined);
      await earlier(LEDGER_DAYS);
      assert.ok(await afterRun(LEDGER_DAYS));
      // Lowered and raised again, it begins anew.
      assert.equal(await afterRun(LEDGER_DAYS - 1), undefined);
      assert.equal(await afterRun(LEDGER_DAYS), undefined);
    } finally {
      await raw.close();
    }
  });
});
