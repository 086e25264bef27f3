import assert from 'node:assert/strict';
import { examine, WHAT_IF_LIMITS } from '../../../src/api/routes/what-if/examine.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { EventSelection } from '../../../src/domain/delivery/recipients.js';
import { parseRetrySchedule } from '../../../src/domain/endpoint/retry-schedule.js';
import { attemptTimes, outcomeByHead, SAMPLE_SIZE } from '../../../src/domain/explain/what-if.js';
import { positionOf, positionsFrom } from '../../../src/domain/feed/feed.js';

const NOON = Date.parse('2026-11-28T12:00:00Z');
const DAY = 86_400_000;

interface Past {
  kind?: string;
  payload?: string;
  at?: number;
  is_test?: boolean;
  is_addressed?: boolean;
  altered?: boolean;
}

/** A feed of some events, in their order, and how many payloads are read of it. */
function feedOf(events: readonly Past[]) {
  const stored = events.map((event, index) => {
    const id = newId('event', event.at ?? NOON + index);
    return { ...event, id, position: positionOf(id) };
  });
  const read: string[] = [];
  const feed = {
    heads: async (_: string, after: string, before: string) => ({
      heads: stored
        .filter(({ position }) => position > after && position < before)
        .map(({ id, position, kind = 'purchase', payload = '', is_test = false, is_addressed = false }) => ({
          ...{ id, position, kind, payload_bytes: payload.length, is_test, is_addressed },
        })),
      end: before,
    }),
    opened: async (_: string, heads: readonly { id: string }[]) => {
      read.push(...heads.map(({ id }) => id));
      return new Map(
        heads.map(({ id }) => {
          const { payload, altered } = stored.find((one) => one.id === id) ?? {};
          return [id, { event: { id, payload }, ...(altered && { altered: new Error() }) }];
        }),
      );
    },
  };
  return { feed: feed as never, ids: stored.map(({ id }) => id), read };
}

const RANGE = { after: positionsFrom(NOON - DAY), before: positionsFrom(NOON + 10 * DAY) };

function tryOn(feed: never, selection: EventSelection, limits = WHAT_IF_LIMITS, after = RANGE.after) {
  return examine(feed, 'acct_1', selection, { ...RANGE, after }, limits);
}

describe('what a new endpoint would have received', () => {
  it('is what its kinds and filter select; the rest is counted by reason', async () => {
    const selection = {
      event_kinds: ['purchase'],
      filter: { path: '/total', at_least: 0.3 },
    };
    const { feed, ids, read } = feedOf([
      { payload: '{"total":1}' },
      { payload: '{"total":0.29999999999999999999}', at: NOON + DAY },
      { kind: 'refund', payload: '{"total":1}' },
      { payload: '{"total":1}', is_addressed: true },
      { payload: '{"total":1}', is_test: true },
      {},
      { payload: '{"total":1}', altered: true },
    ]);
    const { count, end } = await tryOn(feed, selection);
    const found = Object.fromEntries(
      Object.entries(count.outcomes).map(([why, { event_ids }]) => [why, event_ids]),
    );
    assert.deepEqual(found, {
      delivered: [ids[0]],
      event_kind: [ids[2]],
      filter: [ids[1]],
      named_endpoints: [ids[3]],
      payload_unavailable: [ids[5], ids[6]],
    });
    assert.deepEqual([count.events, end], [6, RANGE.before]);
    assert.deepEqual(Object.fromEntries(count.byDay), {
      '2026-11-28': { events: 5, deliveries: 1 },
      '2026-11-29': { events: 1, deliveries: 0 },
    });
    assert.deepEqual(count.byKind.get('purchase'), { events: 5, deliveries: 1 });
    // Where the kind or the producer decides, no payload is decrypted.
    assert.ok(!read.includes(ids[2] ?? '') && !read.includes(ids[3] ?? ''));
  });

  it('needs no payload without a filter', async () => {
    const { feed, read } = feedOf([{ payload: '{}' }, {}]);
    const { count } = await tryOn(feed, { event_kinds: ['*'] });
    assert.deepEqual([count.outcomes.delivered.count, read], [2, []]);
    assert.equal(outcomeByHead({ event_kinds: ['*'] }, { kind: 'x', is_addressed: false }), 'delivered');
  });

  it('shows a few ids of many', async () => {
    const { feed } = feedOf(Array.from({ length: SAMPLE_SIZE + 1 }, () => ({})));
    const { delivered } = (await tryOn(feed, { event_kinds: ['*'] })).count.outcomes;
    assert.deepEqual([delivered.count, delivered.event_ids.length], [SAMPLE_SIZE + 1, SAMPLE_SIZE]);
  });

  for (const [name, limit] of Object.entries({ events: 20, bytes: 200, filterMs: 0, totalMs: 0 }))
    it(`ends at the limit of ${name}, and goes on from there without a repeat`, async () => {
      const { feed, ids } = feedOf(Array.from({ length: 60 }, () => ({ payload: '{"total":5}' })));
      const selection = { event_kinds: ['*'], filter: { path: '/total', equals: 5 } };
      const limits = { ...WHAT_IF_LIMITS, [name]: limit };
      let after = RANGE.after;
      let [requests, found] = [0, 0];
      while (after < RANGE.before) {
        const { count, end } = await tryOn(feed, selection, limits, after);
        assert.ok(count.events <= 32, `${count.events} events in one request`);
        found += count.outcomes.delivered.count;
        after = end;
        requests += 1;
      }
      assert.equal(found, ids.length);
      assert.ok(requests > 1);
    });

  it('ends in time also where the feed has places without events', async () => {
    let rounds = 0;
    const feed = { heads: async (_: string, after: string) => ({ heads: [], end: `${after}${rounds++}` }) };
    const { end } = await tryOn(feed as never, { event_kinds: ['*'] }, { ...WHAT_IF_LIMITS, totalMs: 0 });
    assert.deepEqual([rounds, end > RANGE.after], [1, true]);
  });

  it('is attempted by its schedule, if every attempt fails', () => {
    assert.deepEqual(attemptTimes(parseRetrySchedule('5s,5m,1h')), [0, 5_000, 305_000, 3_905_000]);
    assert.deepEqual(attemptTimes([]), [0]);
  });
});
