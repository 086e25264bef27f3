import assert from 'node:assert/strict';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { resealEach } from '../../../src/models/mongo/reseal.js';

describe('what an older key has sealed', () => {
  it('is sealed again, but not in the place of what somebody has written meanwhile', async () => {
    const [old, fresh] = [newSecretKey(), newSecretKey()];
    const box = new SecretBox(parseSecretKeys(`${fresh},${old}`));
    const sealed = new SecretBox(parseSecretKeys(old)).seal('secret', 'context');
    const stored = new Map([
      ['same', sealed],
      ['erased', sealed],
    ]);
    const model = {
      find: () => ({
        lean: () => ({
          async *cursor() {
            const read = [...stored].map(([_id, sealed]) => ({ _id, sealed }));
            stored.set('erased', 'overwritten');
            yield* read;
          },
        }),
      }),
      async updateOne(filter: { _id: string; sealed?: string }, { $set }: { $set: { sealed: string } }) {
        const { _id } = filter;
        const isFound = filter.sealed === undefined || filter.sealed === stored.get(_id);
        if (isFound) stored.set(_id, $set.sealed);
        return { modifiedCount: isFound ? 1 : 0 };
      },
    };
    assert.equal(await resealEach(model as never, box, () => 'context'), 1);
    assert.equal(stored.get('erased'), 'overwritten');
    assert.equal(box.isOutdated(stored.get('same') ?? ''), false);
  });
});
