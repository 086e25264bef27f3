import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { testEnvironment } from '../../support/system.js';

const EXPIRED = 1_101;

describe('the removal of payloads that are past their time', () => {
  let database: Database;
  let raw: mongoose.Connection;

  before(async () => {
    const uri = (await testEnvironment())['MONGODB_URI'] ?? '';
    database = await connectDatabase(uri);
    await database.createIndexes();
    raw = await mongoose.createConnection(uri).asPromise();
  });
  after(async () => {
    mongoose.set('debug', false);
    await raw.close();
    await database.close();
  });

  it('is done some at once, whatever how many there are', async () => {
    const events = raw.collection('events');
    const event = (at: number, day: number) => ({
      _id: `evt_${at}` as never,
      sealed: 'x',
      payload_expires_at: new Date(Date.UTC(2026, 0, day)),
    });
    await events.insertMany(Array.from({ length: EXPIRED }, (_, at) => event(at, 1)));
    await events.insertOne(event(EXPIRED, 3));
    const sizes: number[] = [];
    mongoose.set('debug', (collection: string, method: string, filter: { _id?: { $in: unknown[] } }) => {
      // Those of other systems in this process are passed over.
      if (collection === 'events' && method === 'updateMany')
        sizes.push(filter._id?.$in.length ?? Number.POSITIVE_INFINITY);
    });
    assert.equal(await database.records.removePayloads(new Date(Date.UTC(2026, 0, 2))), EXPIRED);
    assert.deepEqual(sizes, [500, 500, 101]);
    assert.equal(await events.countDocuments({ sealed: 'x' }), 1);
  });

  it('leaves those of which something is still to be sent, and looks at them again later', async () => {
    const events = raw.collection('events');
    await events.deleteMany({});
    const now = new Date(Date.UTC(2026, 1, 2));
    const payload_expires_at = new Date(Date.UTC(2026, 1, 1));
    const [open, over] = ['evt_open', 'evt_over'].map((_id) => ({ _id: _id as never, account_id: 'acct_1' }));
    await events.insertMany([open, over].map((event) => ({ ...event, sealed: 'y', payload_expires_at })));
    await raw.collection('deliveries').insertMany([
      { account_id: 'acct_1', event_id: 'evt_open', position: '~2026-01-31T12:00:00.000Z dlv_1' },
      { account_id: 'acct_1', event_id: 'evt_over', position: '2026-01-31T12:00:00.000Z dlv_2' },
    ]);
    assert.equal(await database.records.removePayloads(now), 1);
    const [kept, ...others] = await events.find({ sealed: 'y' }).toArray();
    assert.deepEqual([kept?._id, others], ['evt_open', []]);
    assert.ok(kept?.['payload_expires_at'] > now);
    await raw.collection('deliveries').deleteMany({ event_id: 'evt_open' });
    assert.equal(await database.records.removePayloads(new Date(Date.UTC(2026, 1, 3))), 1);
  });
});
