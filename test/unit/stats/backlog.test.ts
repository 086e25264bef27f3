import assert from 'node:assert/strict';
import { BacklogCount, backlogBy, type OpenDelivery } from '../../../src/domain/stats/backlog.js';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const base: OpenDelivery = {
  account_id: 'acct_1',
  endpoint_id: 'ep_1',
  event_kind: 'purchase',
  status: 'retrying',
  createdAt: NOW - 60_000,
};

describe('a backlog', () => {
  it('says how many wait, how old the oldest is, and how many are overdue', () => {
    const count = new BacklogCount(NOW - 15_000);
    count.add({ ...base, dueAt: NOW - 15_000 });
    count.add({ ...base, dueAt: NOW - 15_001 });
    count.add({ ...base, dueAt: NOW - 30_000, status: 'delivering', createdAt: NOW - 90_000 });
    count.add({ ...base, status: 'parked' });
    assert.deepEqual(count.result, {
      deliveries: 4,
      by_status: { delivering: 1, retrying: 2, parked: 1 },
      overdue: 2,
      oldest_created_at: '2026-11-21T09:58:30.000Z',
      overdue_since: '2026-11-21T09:59:30.000Z',
    });
  });

  it('of nothing has no times', () => {
    assert.deepEqual(new BacklogCount(NOW).result, {
      deliveries: 0,
      by_status: { delivering: 0, retrying: 0, parked: 0 },
      overdue: 0,
    });
  });

  it('is told for each endpoint, the largest first', () => {
    const rows = backlogBy(
      [base, { ...base, endpoint_id: 'ep_2' }, { ...base, endpoint_id: 'ep_2' }],
      NOW,
      ({ endpoint_id }) => endpoint_id,
    );
    assert.deepEqual(
      rows.map(([endpoint, { deliveries }]) => [endpoint, deliveries]),
      [
        ['ep_2', 2],
        ['ep_1', 1],
      ],
    );
  });
});
