import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { begun } from '../../../src/api/routes/exports/begun.js';

describe('a stream that has begun', () => {
  it('fails before there is one if nothing can be read', async () => {
    const failing: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('out of reach')) }),
    };
    await assert.rejects(begun(failing), /out of reach/);
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
