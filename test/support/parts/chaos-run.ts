import assert from 'node:assert/strict';
import { checkAll } from '../../../bench/chaos/check/check.js';
import type {
  AttemptFacts,
  Collected,
  DeliveryViews,
  FeedItem,
  FullRow,
  Received,
} from '../../../bench/chaos/check/collected.js';

export const ULID = '01M8CZH08CKZ6F5XFND9KG53G5';
export const ACCOUNT = 'acct_01M8CZGMBAY082PEVBNGFZ8XZV';
export const EVENT = `evt_${ULID}`;
export const ENDPOINT = 'ep_01M8CZGMJGC53J7T0RJZ96K0GY';
export const DELIVERY = `dlv_${ULID}_01M8CZGMJGC53J7T0RJZ96K0GY`;
export const RUN = '01a219f8-832f-70e5-9374-439b7fb9e6e4';
export const BEGAN = Date.parse('2026-11-26T22:00:00.000Z');
export const iso = (ms: number) => new Date(ms).toISOString();

export function attempt(number: number, afterMs: number, more: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    number,
    at: iso(BEGAN + afterMs),
    duration_ms: 10,
    trigger: 'schedule',
    webhook_timestamp: Math.floor((BEGAN + afterMs) / 1_000),
    status_code: 200,
    ...more,
  };
}

export function request(number: number, afterMs: number, more: Partial<Received> = {}): Received {
  return {
    path: '/shop-0',
    eventId: EVENT,
    attempt: number,
    timestamp: Math.floor((BEGAN + afterMs) / 1_000),
    atMs: BEGAN + afterMs,
    sha256: 'abc',
    isSigned: true,
    answered: 200,
    ...more,
  };
}

/** Events in a feed, none of them late. */
export const inFeed = (...ids: string[]): FeedItem[] =>
  ids.map((id) => ({ id, position: id.slice('evt_'.length) }));

/**
 * An event with one delivery, which is well: refused once, and delivered after the first wait. A rule is broken by
 * changing something.
 */
export function wellRun() {
  const row = {
    id: DELIVERY,
    event_id: EVENT,
    endpoint_id: ENDPOINT,
    status: 'delivered',
    created_at: iso(BEGAN),
    started_at: iso(BEGAN),
    closed_at: iso(BEGAN + 1_020),
    reason: 'The endpoint responded with 2xx.',
    workflow_id: 'group:grp_1',
    run_id: RUN,
  };
  const record = (): FullRow => ({
    ...row,
    attempts: [attempt(1, 0, { status_code: 503 }), attempt(2, 1_010)],
  });
  const delivery = {
    id: DELIVERY,
    accountId: ACCOUNT,
    eventId: EVENT,
    endpointId: ENDPOINT,
    isRead: true,
    listed: { ...row },
    ofEvent: { ...row },
    single: record(),
    exported: record(),
    timeline: { status: 'delivered', attempts: record().attempts.map(({ at }) => at) },
    explained: { code: 'delivered', status: 'delivered', attempts: 2 },
    certified: { status: 'delivered', attempts: 2 },
    executions: [{ workflowId: 'group:grp_1', runId: RUN, isOpen: false }],
  } satisfies DeliveryViews;
  const event = {
    id: EVENT,
    accountId: ACCOUNT,
    isListed: true,
    single: { status: 200, orderId: 'order-1', isErased: false, deliveries: [DELIVERY] },
    exported: { orderId: 'order-1', isErased: false },
  };
  return {
    posted: [
      {
        accountId: ACCOUNT,
        orderId: 'order-1',
        sha256: 'abc',
        subject: 'ada@example.com',
        key: 'key-1',
        answers: [503, 202],
        eventIds: [EVENT],
        acknowledgedMs: BEGAN,
        deliveryIds: [DELIVERY] as string[],
        deliveryCount: 1,
      },
    ],
    feeds: { [ACCOUNT]: { followed: inFeed(EVENT), whole: inFeed(EVENT) } } as Collected['feeds'],
    received: [request(1, 0, { answered: 503, answeredMs: BEGAN + 5 }), request(2, 1_010)],
    endpoints: [{ id: ENDPOINT, accountId: ACCOUNT, path: '/shop-0', schedule: [1_000] }],
    disruptions: [] as Collected['disruptions'],
    acts: [] as Collected['acts'],
    unsettled: [] as string[],
    deliveries: [delivery],
    events: [event],
    changes: [] as Collected['changes'],
    openInStats: { [ACCOUNT]: 0 } as Record<string, number>,
    log: { checkpoints: [{ atMs: BEGAN, size: 1, root: 'root' }], problems: [] as string[] },
    recordDifferences: [] as string[],
  };
}

export type Run = ReturnType<typeof wellRun>;

/** Findings of the checker about a run that a change made worse, by rule. */
export function brokenBy(change: (run: Run) => void): string[] {
  const run = wellRun();
  change(run);
  return [...new Set(checkAll(run as unknown as Collected).map(({ rule }) => rule))].sort();
}

export const only = <T>(all: readonly T[]): T => {
  assert.ok(all.length > 0);
  return all[0] as T;
};
export const delivery = (run: Run) => only(run.deliveries) as DeliveryViews & Run['deliveries'][number];

/** Gives a delivery another status in every view. */
export function everywhere(run: Run, status: string, attempts: AttemptFacts[]): void {
  const { listed, ofEvent, single, exported, timeline, explained, certified } = delivery(run);
  for (const view of [listed, ofEvent, single, exported, timeline, explained, certified])
    view.status = status;
  for (const view of [single, exported]) view.attempts = attempts;
  for (const view of [timeline, explained, certified]) view.attempts = attempts.length;
}
