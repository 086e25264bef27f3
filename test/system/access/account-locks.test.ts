import { deepEqual, equal, rejects } from 'node:assert/strict';
import mongoose from 'mongoose';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { testEnvironment } from '../../support/system.js';

describe('the lock of an account', () => {
  let uri: string;
  let processes: Database[];
  before(async () => {
    uri = (await testEnvironment())['MONGODB_URI'] ?? '';
    // Each is what a process has.
    processes = await Promise.all([connectDatabase(uri), connectDatabase(uri)]);
  });
  after(() => Promise.all(processes.map((database) => database.close())));

  const each = (count: number, act: (database: Database) => Promise<void>) =>
    Promise.all(processes.flatMap((database) => Array.from({ length: count }, () => act(database))));

  it('lets one of all processes count and make at a time, so that no maximum is exceeded', async () => {
    const made: string[] = [];
    await each(10, (database) =>
      database.accountLocks.hold('acct_1', 'things', async () => {
        const there = made.length;
        await database.ping();
        if (there < 7) made.push('thing');
      }),
    );
    equal(made.length, 7);
  });

  it('is given back also by what fails, and no other lock waits for it', async () => {
    const [one] = processes as [Database, Database];
    const failing = one.accountLocks.hold('acct_2', 'things', async () => {
      throw new Error('no more');
    });
    await rejects(failing, /no more/);
    const order: string[] = [];
    await one.accountLocks.hold('acct_2', 'things', async () => {
      await each(1, (database) =>
        database.accountLocks.hold('acct_3', 'things', async () => void order.push('other')),
      );
      order.push('this');
    });
    deepEqual(order, ['other', 'other', 'this']);
  });

  it('is taken from a process that has died with it', async () => {
    const connection = await mongoose.createConnection(uri).asPromise();
    await connection
      .collection<{ _id: string }>('account_locks')
      .insertOne({ _id: 'acct_4:things', holder: 'gone', until: new Date(0) } as { _id: string });
    await connection.close();
    equal(await processes[0]?.accountLocks.hold('acct_4', 'things', async () => 'done'), 'done');
  });
});
