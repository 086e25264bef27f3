import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { IdempotencyRepository } from '../../../src/models/event/idempotency.js';

describe('the record of an idempotency key', () => {
  it('of an event without endpoints is read also where a server has left the empty list out', async () => {
    const earlier = { body_hash: 'h', event_id: 'evt_1', accepted_at: 'x', sequence: 1, state: 'confirmed' };
    const model = { findOneAndUpdate: () => ({ lean: async () => earlier }) };
    const connection = { models: {}, model: () => model } as unknown as Connection;
    const claimed = await new IdempotencyRepository(connection).claim('acct_1', 'key', {
      ...earlier,
      targets: [],
    });
    assert.deepEqual(claimed.record.targets, []);
  });
});
