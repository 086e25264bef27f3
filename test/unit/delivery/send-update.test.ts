import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { mongodbClock } from '../../../src/domain/time/shared-time.js';
import { sendUpdate, UPDATES_AT_ONCE } from '../../../src/temporal/write/send-update.js';
import { act } from '../../../workflows/messages.js';

describe('updates that are sent at once', () => {
  it('wait for their turn if they are for the same execution, and not for those of others', async () => {
    const underWay = { one: 0, other: 0 };
    const seen: (typeof underWay)[] = [];
    const getHandle = (id: keyof typeof underWay) => ({
      async executeUpdate() {
        underWay[id] += 1;
        seen.push({ ...underWay });
        await turn();
        underWay[id] -= 1;
        return id;
      },
    });
    const withDeadline = (_: number, call: () => unknown) => call();
    const client = { workflow: { getHandle }, withDeadline } as unknown as Client;
    const send = (id: string) =>
      sendUpdate(client, id, act, { action: 'retry' }, { refused: (message) => new Error(message) });

    const ids = Array.from({ length: 6 * UPDATES_AT_ONCE }, (_, index) => (index % 2 ? 'one' : 'other'));
    assert.deepEqual(await Promise.all(ids.map(send)), ids);
    assert.equal(Math.max(...seen.map(({ one }) => one)), UPDATES_AT_ONCE);
    assert.equal(Math.max(...seen.map(({ one, other }) => one + other)), 2 * UPDATES_AT_ONCE);
  });
});

describe('an update', () => {
  afterEach(() => mock.restoreAll());

  it('has the time that it has, also where the clock of the machine is ahead', async () => {
    mock.method(mongodbClock, 'now', () => Date.now() - 60_000);
    let leftMs = 0;
    const withDeadline = (deadline: number, call: () => unknown) => {
      leftMs = deadline - Date.now();
      return call();
    };
    const getHandle = () => ({ executeUpdate: async () => 'done' });
    const client = { workflow: { getHandle }, withDeadline } as unknown as Client;
    await sendUpdate(client, 'x', act, { action: 'retry' }, { refused: (message) => new Error(message) });
    assert.ok(leftMs > 0, `${leftMs} ms`);
  });
});
