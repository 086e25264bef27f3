import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { Context } from '../../../src/api/http/context.js';
import { begun } from '../../../src/api/routes/exports/begun.js';
import { exportOperations } from '../../../src/api/routes/exports/exports.js';

describe('a stream that has begun', () => {
  it('fails before there is one if nothing can be read', async () => {
    const failing: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('out of reach')) }),
    };
    await assert.rejects(begun(failing), /out of reach/);
  });

  it('is what an export is: one that cannot be read is no answer of success', async () => {
    const failing = {
      read: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('out of reach')) }),
      }),
    };
    const database = { archive: { export: failing.read }, changes: failing };
    const [operation] = exportOperations({ database } as unknown as Parameters<typeof exportOperations>[0]);
    const ctx = {
      state: { caller: { account_id: 'acct_1' } },
      vary() {},
      acceptsEncodings: () => 'identity',
    };
    const input = { query: { from: new Date(0), to: new Date() }, body: undefined, params: {} };
    await assert.rejects(async () => operation?.handle(ctx as unknown as Context, input), /out of reach/);
    assert.ok(!('body' in ctx));
  });

  it('gives everything once, in order', async () => {
    for (const items of [[], ['a'], ['a', 'b', 'c']])
      assert.deepEqual(await Readable.from(await begun(Readable.from(items))).toArray(), items);
  });

  it('ends its source when it is given up', async () => {
    let isEnded = false;
    async function* source() {
      try {
        for (let number = 0; ; number += 1) yield number;
      } finally {
        isEnded = true;
      }
    }
    for await (const number of await begun(source())) if (number === 2) break;
    assert.ok(isEnded);
  });
});
