import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Context } from '../../../src/api/http/context.js';
import { exportOperations } from '../../../src/api/routes/exports/exports.js';

describe('the answer of an export', () => {
  async function answerOf(changes: AsyncIterable<unknown>, events = nothing() as AsyncIterable<unknown>) {
    const database = { records: { export: () => events }, changes: { read: () => changes } };
    const [operation] = exportOperations({ database } as unknown as Parameters<typeof exportOperations>[0]);
    const ctx = {
      state: { caller: { scopes: ['changes:read'] } },
      vary() {},
      accepts: () => false,
      acceptsEncodings: () => 'identity',
    };
    const query = { from: new Date(0), to: new Date(), include: 'changes' };
    const input = { account_id: 'acct_1', query, body: undefined, params: {} };
    return (await operation?.handle(input, ctx as unknown as Context)) as Readable;
  }

  it('is no success if nothing can be read', async () => {
    const failing = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('out of reach')) }),
    };
    await assert.rejects(answerOf(failing), /out of reach/);
  });

  it('has everything once, in order', async () => {
    for (const ids of [[], ['chg_a'], ['chg_a', 'chg_b', 'chg_c']]) {
      const lines = await answerOf(Readable.from(ids.map(change)));
      const read = (await lines.toArray()).map((line) => JSON.parse(String(line)).after);
      assert.deepEqual(read, ids);
    }
  });

  it('ends its sources when it is given up', async () => {
    const ended: string[] = [];
    async function* source<T>(prefix: string, item: (id: string) => T) {
      try {
        for (let number = 0; ; number += 1) yield item(`${prefix}_${number}`);
      } finally {
        ended.push(prefix);
      }
    }
    const lines = await answerOf(source('chg', change), source('evt', event));
    for await (const _ of lines) break;
    await finished(lines).catch(() => {});
    assert.deepEqual(ended, ['evt', 'chg']);
  });
});

async function* nothing() {}

function change(id: string) {
  return {
    change: {
      ...{ id, resource: 'endpoint:ep_1', version: 1, action: 'created', outcome: 'done' },
      ...{ at: '2026-01-01T00:00:00.000Z', actor: { type: 'operator', id: 'operator' }, changed: [] },
    },
    salt: Buffer.alloc(32),
  };
}

function event(id: string) {
  const of = {
    event_kind: 'purchase',
    accepted_at: new Date(0),
    sequence: 1,
    payload_bytes: 2,
    payload: '{}',
  };
  return { event: { id, ...of }, deliveries: [] };
}
