import assert from 'node:assert/strict';
import type { DeliveryFilter } from '../../../src/domain/list/delivery-filter.js';
import { deliveryConditions, eventConditions } from '../../../src/models/records/conditions.js';

const [EARLY, LATE] = [new Date(1_000), new Date(2_000)];

/** Each filter of lists, and what it means for a recorded delivery. */
const MEANINGS: { [Name in keyof Required<DeliveryFilter>]: [DeliveryFilter[Name], object] } = {
  event_id: ['evt_1', { event_id: 'evt_1' }],
  event_kind: ['purchase', { event_kind: 'purchase' }],
  key_token: ['k:1', { keys: 'k:1' }],
  created_after: [EARLY, { accepted_at: { $gt: EARLY } }],
  created_before: [LATE, { accepted_at: { $lt: LATE } }],
  endpoint_id: ['ep_1', { endpoint_id: 'ep_1' }],
  statuses: [['exhausted', 'expired'], { status: { $in: ['exhausted', 'expired'] } }],
  error_code: ['timeout', { error_code: 'timeout' }],
  status_code: [503, { status_code: 503 }],
  any_attempt: [
    { status_code: 500, longer_than_ms: 20 },
    { results: '500', longest_ms: { $gt: 20 } },
  ],
};

describe('what is asked of the records', () => {
  it('has a condition for each filter of lists, by itself and with all others', () => {
    for (const [name, [value, condition]] of Object.entries(MEANINGS))
      assert.deepEqual(deliveryConditions({ [name]: value }), condition, name);
    const all = Object.fromEntries(Object.entries(MEANINGS).map(([name, [value]]) => [name, value]));
    const period = { accepted_at: { $gt: EARLY, $lt: LATE } };
    const together = Object.assign({}, ...Object.values(MEANINGS).map(([, condition]) => condition), period);
    assert.deepEqual(deliveryConditions(all), together);
    assert.deepEqual(deliveryConditions({}), {});
  });

  it('names an event by its own id where events are asked for', () => {
    assert.deepEqual(eventConditions({ event_id: 'evt_1', created_after: EARLY }), {
      _id: 'evt_1',
      accepted_at: { $gt: EARLY },
    });
  });
});
