import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { repeat } from '../../../src/bin/process/repeat.js';
import { deleteExpiredListeners } from '../../../src/bin/service/listeners/listener-sweep.js';

const INTERVAL_MS = 1_000;

describe('what is done again and again', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  it('is done once at a time, the first time as well, and after it has ended again', async () => {
    const begun: (() => void)[] = [];
    const stop = repeat(INTERVAL_MS, () => new Promise((resolve) => begun.push(resolve)), { now: true });
    assert.equal(begun.length, 1);
    mock.timers.tick(3 * INTERVAL_MS);
    assert.equal(begun.length, 1);
    begun[0]?.();
    await new Promise(setImmediate);
    mock.timers.tick(INTERVAL_MS);
    assert.equal(begun.length, 2);
    const stopped = stop();
    mock.timers.tick(INTERVAL_MS);
    begun[1]?.();
    await stopped;
    assert.equal(begun.length, 2);
  });

  it('hears that it is to stop, as the deletion of listeners does between two of them', async () => {
    const deleted: string[] = [];
    const found = ['ep_1', 'ep_2', 'ep_3'].map((endpoint_id) => ({ account_id: 'acct_1', endpoint_id }));
    const stubs = {
      endpoints: { delete: async (_: string, id: string) => deleted.push(id) },
      inboxes: { remove: async () => {} },
      listeners: { unseenSince: () => found, remove: async () => {} },
    } as unknown as Parameters<typeof deleteExpiredListeners>[0];
    let stopped: Promise<void> | undefined;
    const stop = repeat(INTERVAL_MS, (stopping) => {
      const release = async () => {
        if (deleted.length === 2) stopped = stop();
      };
      return deleteExpiredListeners(stubs, { release }, Date.now(), stopping);
    });
    mock.timers.tick(INTERVAL_MS);
    await new Promise(setImmediate);
    await stopped;
    assert.deepEqual(deleted, ['ep_1', 'ep_2']);
  });
});
