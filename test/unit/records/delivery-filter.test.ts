import assert from 'node:assert/strict';
import { asksForDeliveries, type DeliveryFilter } from '../../../src/domain/list/delivery-filter.js';

/** Each filter of lists, and whether a list of events looks at deliveries for it. */
const FILTERS: { [Name in keyof Required<DeliveryFilter>]: [DeliveryFilter[Name], boolean] } = {
  event_id: ['evt_1', false],
  event_kind: ['purchase', false],
  key_token: ['k:1', false],
  created_after: [new Date(1_000), false],
  created_before: [new Date(2_000), false],
  endpoint_id: ['ep_1', true],
  statuses: [['delivered'], true],
  error_code: ['timeout', true],
  status_code: [503, true],
  any_attempt: [{ status_code: 500 }, true],
};

describe('a list of events', () => {
  it('looks at deliveries for filters on these alone', () => {
    for (const [name, [value, expected]] of Object.entries(FILTERS)) {
      assert.equal(asksForDeliveries({ [name]: value }), expected, name);
      assert.equal(asksForDeliveries({ [name]: undefined }), false, name);
    }
  });
});
