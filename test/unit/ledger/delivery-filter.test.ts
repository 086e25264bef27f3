import assert from 'node:assert/strict';
import { TypedSearchAttributes } from '@temporalio/common';
import { newId } from '../../../src/domain/basics/ids.js';
import { DELIVERY_STATUSES, isClosed, type ShownStatus } from '../../../src/domain/delivery/delivery.js';
import type { DeliverySummary } from '../../../src/domain/delivery/delivery-view.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../../src/domain/ledger/search-attributes.js';
import type { DeliveryFilter } from '../../../src/domain/list/delivery-filter.js';
import {
  asksForDeliveries,
  clausesOf,
  hasResult,
  matchingRows,
  needsRecords,
} from '../../../src/temporal/read/delivery-filter.js';
import { indexMembers } from '../../../src/temporal/read/group/group-memo.js';
import type { Execution } from '../../../src/temporal/read/visibility/visibility.js';

const ACCOUNT = newId('account');
const [ONE, OTHER] = [newId('endpoint'), newId('endpoint')];
const [KEYED, PLAIN] = [newId('event'), newId('event')];
const TOKEN = 'k:order-1';

/** Deliveries of every status, of two events to two endpoints each. */
const members = DELIVERY_STATUSES.flatMap((status) =>
  [ONE, OTHER].flatMap((endpoint_id) =>
    [KEYED, PLAIN].map((event_id) => ({ status, account_id: ACCOUNT, event_id, endpoint_id })),
  ),
);
const { attributes, memo } = indexMembers(
  members.map((member) => ({ ...member, keys: member.event_id === KEYED ? [TOKEN] : [] })),
);
const group = {
  type: 'deliver',
  workflowId: 'group:1',
  runId: '1',
  status: { name: 'RUNNING' },
  startTime: new Date(),
  memo: {
    ...memo,
    heads: [],
    states: DELIVERY_STATUSES.map((status) => ({
      status,
      members: members.flatMap((member, index) => (member.status === status ? [index] : [])),
    })),
  },
  typedSearchAttributes: new TypedSearchAttributes([
    { key: ACCOUNT_ATTRIBUTE, value: attributes.accounts },
    { key: EVENT_ATTRIBUTE, value: attributes.events },
    { key: ENDPOINT_ATTRIBUTE, value: attributes.endpoints },
    { key: KIND_ATTRIBUTE, value: 'purchase' },
  ]),
} as unknown as Execution;

/** Each filter by itself, and what it must find, as far as lists tell. */
const FILTERS: [DeliveryFilter, (row: DeliverySummary) => boolean][] = [
  [{ endpoint_id: ONE }, ({ endpoint_id }) => endpoint_id === ONE],
  [{ event_id: PLAIN }, ({ event_id }) => event_id === PLAIN],
  [{ event_kind: 'purchase' }, () => true],
  [{ event_kind: 'refund' }, () => false],
  [{ key_token: TOKEN }, ({ event_id }) => event_id === KEYED],
  [{ created_after: new Date(Date.now() + 3_600_000) }, () => false],
  [{ created_before: new Date(Date.now() + 3_600_000) }, () => true],
  ...([['retrying'], ['delivered', 'parked'], ['exhausted', 'cancelled']] as ShownStatus[][]).map(
    (statuses): [DeliveryFilter, (row: DeliverySummary) => boolean] => [
      { statuses },
      ({ status }) => statuses.includes(status),
    ],
  ),
  // Only a delivery that ended so was answered with success; whether another was answered with 503 its record tells.
  [{ status_code: 204 }, ({ status }) => status === 'delivered'],
  [{ status_code: 503 }, ({ status }) => status !== 'delivered'],
  [{ error_code: 'timeout' }, ({ status }) => status !== 'delivered'],
];

describe('the filters of a list of deliveries', () => {
  const found = (filter: DeliveryFilter) =>
    matchingRows(group, ACCOUNT, filter).map(({ summary }) => summary);
  const all = found({});

  it('choose of a group what matches each, and what matches any two of them', () => {
    assert.equal(all.length, members.length);
    assert.equal(new Set(all.map(({ status }) => status)).size, DELIVERY_STATUSES.length);
    for (const [filter, matches] of FILTERS) {
      assert.deepEqual(found(filter), all.filter(matches), JSON.stringify(filter));
      for (const [other, otherMatches] of FILTERS) {
        const both = { ...filter, ...other };
        if (Object.keys(both).length < 2) continue;
        const isPossible = !('status_code' in both && 'error_code' in both);
        const expected = all.filter((row) => isPossible && matches(row) && otherMatches(row));
        assert.deepEqual(found(both), expected, JSON.stringify(both));
      }
    }
    assert.deepEqual(matchingRows(group, newId('account'), {}), [], 'of another account');
  });

  it('have records read where only these tell, and deliveries looked at for a list of events', () => {
    const ofEvents = ['event_id', 'event_kind', 'key_token', 'created_after', 'created_before'];
    const ofRows = [...ofEvents, 'endpoint_id', 'statuses'];
    for (const [filter] of [...FILTERS, [{ any_attempt: { status_code: 500 } }] as const]) {
      const [name = ''] = Object.keys(filter);
      assert.equal(needsRecords(filter), !ofRows.includes(name), name);
      assert.equal(asksForDeliveries(filter), !ofEvents.includes(name), name);
    }
    assert.equal(asksForDeliveries({ event_kind: undefined, statuses: undefined }), false);
  });

  it('compare the latest attempt of a record', async () => {
    const [row] = matchingRows(group, ACCOUNT, {});
    assert.ok(row);
    const matches = (filter: DeliveryFilter, ...attempts: object[]) =>
      hasResult({ execution: group, row }, filter, { record: async () => ({ attempts }) as never });
    const [refused, timedOut] = [{ status_code: 503 }, { error_code: 'timeout' }] as const;
    assert.equal(await matches(refused, timedOut, refused), true);
    assert.equal(await matches(refused, refused, timedOut), false);
    assert.equal(await matches(timedOut, refused, timedOut), true);
    assert.equal(await matches(timedOut, timedOut, refused), false);
    assert.equal(await matches(refused), false, 'without an attempt');
  });

  it('make the query of all their clauses, or none where nothing can match', () => {
    for (const [filter] of FILTERS)
      for (const [other] of FILTERS) {
        const both = { ...filter, ...other };
        const named = Object.keys(both);
        const [first, second, together] = [filter, other, both].map((each) => clausesOf(ACCOUNT, each));
        if (named.length < 2) continue;
        if (named.every((name) => ['statuses', 'status_code', 'error_code'].includes(name))) {
          const { statuses = DELIVERY_STATUSES, status_code, error_code } = both;
          const isSuccess = status_code === 204;
          const isPossible =
            !(status_code && error_code) && statuses.some((status) => (status === 'delivered') === isSuccess);
          assert.equal(together !== undefined, isPossible, JSON.stringify(both));
          continue;
        }
        assert.deepEqual(
          new Set(together),
          new Set([...(first ?? []), ...(second ?? [])]),
          JSON.stringify(both),
        );
      }
    const open = DELIVERY_STATUSES.filter((status) => !isClosed(status));
    assert.equal(clausesOf(ACCOUNT, { statuses: open, status_code: 204 }), undefined);
  });
});
