import { deepEqual, equal } from 'node:assert/strict';
import { compilePayloadSchema } from '../../../packages/payload-contract/src/index.js';
import {
  END_KINDS,
  endKindOf,
  MAX_ENDS_NAMED,
  noticePayload,
} from '../../../src/domain/delivery/end-notice.js';
import { findEventKind } from '../../../src/domain/event/event-kinds.js';
import { recordedTime } from '../../../src/domain/time/recorded-time.js';

describe('The event that tells of ends without success', () => {
  const end = (n: number) => ({
    account_id: 'acct_1',
    endpoint_id: 'ep_1',
    kind: 'delivery.expired' as const,
    delivery_id: `dlv_${n}`,
    event_id: `evt_${n}`,
    event_kind: n % 2 ? 'purchase' : 'order.paid',
    closed_at: new Date(1_000 * n),
    run_id: 'run',
  });
  const notice = (count: number) =>
    noticePayload({
      name: 'notice',
      at: recordedTime('2026-11-24T12:00:00.000Z'),
      account_id: 'acct_1',
      endpoint_id: 'ep_1',
      kind: 'delivery.expired',
      ends: Array.from({ length: count }, (_, n) => end(count - n)),
    });

  it('counts all of them, and names the earliest', () => {
    const payload = notice(MAX_ENDS_NAMED + 50);
    equal(payload['count'], MAX_ENDS_NAMED + 50);
    deepEqual(payload['event_kinds'], ['order.paid', 'purchase']);
    const named = payload['deliveries'] as { delivery_id: string }[];
    deepEqual([named.length, named[0]?.delivery_id], [MAX_ENDS_NAMED, 'dlv_1']);
    deepEqual(
      [payload['first_closed_at'], payload['last_closed_at']],
      ['1970-01-01T00:00:01.000Z', '1970-01-01T00:02:30.000Z'],
    );
  });

  it('is what its kind says', () => {
    const check = compilePayloadSchema(findEventKind('delivery.expired')?.schema ?? {});
    const text = JSON.stringify(notice(3));
    equal(check(JSON.parse(text)), undefined);
  });

  it('is sent about exhausted and expired deliveries alone', () => {
    deepEqual(Object.values(END_KINDS), ['delivery.exhausted', 'delivery.expired']);
    for (const status of ['delivered', 'cancelled', 'terminated'] as const)
      equal(endKindOf(status), undefined);
  });
});
