import assert from 'node:assert/strict';
import type { Collected, Received } from '../../../bench/chaos/check/collected.js';
import { feed, order } from '../../../bench/chaos/check/order-rules.js';
import { ACCOUNT, BEGAN, ENDPOINT, only, request, wellRun } from '../../support/parts/chaos-run.js';

const [FIRST, SECOND] = ['evt_01M8CZH08CKZ6F5XFND9KG53G5', 'evt_01M8CZH5F9ZWSZFDHDVS11BYXR'] as const;

/** Two events of one key: posted one after the other, and delivered so. The first is refused once. */
function inOrder() {
  const run = wellRun();
  const [delivery, endpoint, posted] = [only(run.deliveries), only(run.endpoints), only(run.posted)];
  const at = (number: number, eventId: string, afterMs: number, answered: number): Received => ({
    ...request(1, afterMs, { eventId, answered, answeredMs: BEGAN + afterMs + 5 }),
    order: { number, key: 'o:abc' },
  });
  const received = [at(1, FIRST, 0, 503), at(1, FIRST, 1_000, 200), at(2, SECOND, 1_020, 200)];
  const after = { ...posted, orderId: 'order-2', eventIds: [SECOND], postedMs: BEGAN + 1 };
  return {
    ...run,
    endpoints: [{ ...endpoint, isOrdered: true as const }],
    deliveries: [delivery, { ...delivery, id: `dlv_2_${ENDPOINT}`, eventId: SECOND }],
    posted: [{ ...posted, postedMs: BEGAN - 5 }, after] as Collected['posted'],
    received,
    feeds: { [ACCOUNT]: { followed: [FIRST, SECOND], whole: [FIRST, SECOND] } },
  } satisfies Collected;
}
type Ordered = ReturnType<typeof inOrder>;
const received = (run: Ordered, at: number) => run.received[at] ?? assert.fail();
const feedOf = (run: Ordered) => run.feeds[ACCOUNT] ?? assert.fail();

const CASES: [string, RegExp | undefined, (run: Ordered) => void][] = [
  ['deliveries one after the other', undefined, () => {}],
  [
    'a delivery before the one in front of it has succeeded',
    /number 2 came before 1, which was delivered 505 ms later/,
    (run) => {
      received(run, 2).atMs = BEGAN + 500;
    },
  ],
  [
    'a delivery behind one that never succeeded',
    /which was not delivered/,
    (run) => {
      received(run, 1).answered = 500;
    },
  ],
  [
    'a delivery behind one that was cancelled',
    undefined,
    (run) => {
      received(run, 1).answered = 500;
      only(run.deliveries).single.status = 'cancelled';
    },
  ],
  [
    'a number that two events have',
    /number 1 is of/,
    (run) => {
      received(run, 2).order = { number: 1, key: 'o:abc' };
    },
  ],
  [
    'an event with two numbers',
    /has the numbers 1,3/,
    (run) => {
      received(run, 2).eventId = FIRST;
      received(run, 2).order = { number: 3, key: 'o:abc' };
    },
  ],
  [
    'a lower number than an event that was accepted before it was posted',
    /number 1 was posted after/,
    (run) => {
      Object.assign(run.posted[0] ?? {}, { postedMs: BEGAN + 50 });
      Object.assign(run.posted[1] ?? {}, { acknowledgedMs: BEGAN + 20 });
    },
  ],
  [
    'other keys',
    undefined,
    (run) => {
      received(run, 2).order = { number: 1, key: 'o:def' };
      received(run, 2).atMs = BEGAN;
    },
  ],
  [
    'an event that a follower of the feed did not get',
    /a reader that followed did not get it/,
    (run) => void feedOf(run).followed.pop(),
  ],
  [
    'an event that is not in the feed',
    /a reader from the beginning did not get it/,
    (run) => void feedOf(run).whole.shift(),
  ],
];

describe('the checker of a chaos run, of order and feed', () => {
  for (const [what, finding, change] of CASES)
    it(`${finding ? 'finds' : 'accepts'} ${what}`, () => {
      const run = inOrder();
      change(run);
      const found = [...order(run), ...feed(run)].map(({ text }) => text);
      if (finding) assert.match(found.join(), finding);
      else assert.deepEqual(found, []);
    });
});
