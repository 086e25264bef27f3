import type { LiveGroup } from '../../../src/domain/delivery/delivery-group.js';

/** Input of an execution of one delivery. */
export function groupOf(
  { account_id, event_id, endpoint_id }: { account_id: string; event_id: string; endpoint_id: string },
  more: Partial<LiveGroup> = {},
): LiveGroup {
  const accepted_at = '2026-01-31T12:00:00.000Z';
  return {
    events: [{ account_id, event_id, event_kind: 'purchase', accepted_at }],
    deliveries: [{ event: 0, endpoint_id }],
    schedule: [1_000],
    attempt_timeout_ms: 1_000,
    park_limit_ms: 1_000,
    ...more,
  };
}
