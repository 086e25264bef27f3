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
});
