import assert from 'node:assert/strict';
import type { Collected, EndpointFacts, Received } from '../../../bench/chaos/check/collected.js';
import { order } from '../../../bench/chaos/check/order-rules.js';
import { BEGAN, ENDPOINT, iso, only, request, wellRun } from '../../support/parts/chaos-run.js';

const [FIRST, SECOND, THIRD] = [
  'evt_01M8CZH08CKZ6F5XFND9KG53G5',
  'evt_01M8CZH5F9ZWSZFDHDVS11BYXR',
  'evt_01M8CZH7F9ZWSZFDHDVS11BYXR',
] as const;
const KEY = 'o:abc';

/** Events of one key: two were posted one after the other, and delivered so. The first is refused once. */
function inOrder() {
  const run = wellRun();
  const [delivery, endpoint, posted] = [only(run.deliveries), only(run.endpoints), only(run.posted)];
  const at = (number: number, eventId: string, afterMs: number, answered: number): Received => ({
    ...request(1, afterMs, { eventId, answered, answeredMs: BEGAN + afterMs + 5 }),
    order: { number, ...(number > 1 && { previous: number - 1 }), key: KEY },
  });
  return {
    ...run,
    endpoints: [{ ...endpoint, order: { ordering: 'key' } }] as [EndpointFacts],
    deliveries: [FIRST, SECOND].map((eventId: string, index) => ({
      ...delivery,
      id: `dlv_${index}_${ENDPOINT}`,
      eventId,
      single: { ...delivery.single },
    })),
    posted: [
      { ...posted, eventIds: [FIRST], postedMs: BEGAN - 5, orderKey: 'a' },
      { ...posted, orderId: 'order-2', eventIds: [SECOND], postedMs: BEGAN + 1, orderKey: 'a' },
    ] as Collected['posted'],
    received: [at(1, FIRST, 0, 503), at(1, FIRST, 1_000, 200), at(2, SECOND, 1_020, 200)],
  } satisfies Collected;
}
type Ordered = ReturnType<typeof inOrder>;
const received = (run: Ordered, at: number) => run.received[at] ?? assert.fail();
const delivery = (run: Ordered, at: number) => run.deliveries[at] ?? assert.fail();
const orderOf = (run: Ordered, at: number) => received(run, at).order ?? assert.fail();
/** The first never succeeds, and ends some time later than the second comes. */
function exhaust(run: Ordered, afterMs: number): void {
  received(run, 1).answered = 500;
  Object.assign(delivery(run, 0).single, {
    status: 'exhausted',
    closed_at: iso(received(run, 2).atMs + afterMs),
  });
}
/** One more event, whose number is 2: the second's is 3. It never came. */
function leaveOut(run: Ordered, status: string, orderKey: string): void {
  run.received[2] = { ...received(run, 2), order: { number: 3, previous: 2, key: KEY } };
  run.posted.push({ ...only(run.posted), orderId: 'order-3', eventIds: [THIRD], orderKey });
  const left = delivery(run, 0);
  run.deliveries.push({ ...left, id: 'dlv_3', eventId: THIRD, single: { ...left.single, status } });
}
/** All requests as of an endpoint with one order for all. */
function asEndpoint(run: Ordered): void {
  only(run.endpoints).order = { ordering: 'endpoint' };
  for (const one of run.received) delete one.order?.key;
}

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
      delivery(run, 0).single.status = 'cancelled';
    },
  ],
  ['a delivery behind one that is exhausted', /which was not delivered/, (run) => exhaust(run, -10)],
  [
    'a delivery behind one that is exhausted, where that is skipped',
    undefined,
    (run) => {
      only(run.endpoints).order = { ordering: 'key', order_skip: 'exhausted' };
      exhaust(run, -10);
    },
  ],
  [
    'a delivery behind one that was exhausted later, where that is skipped',
    /which was not delivered/,
    (run) => {
      only(run.endpoints).order = { ordering: 'key', order_skip: 'exhausted' };
      exhaust(run, 10);
    },
  ],
  [
    'a delivery behind one that has held it up for as long as it may',
    undefined,
    (run) => {
      only(run.endpoints).order = { ordering: 'key', order_skip_after: '4s' };
      received(run, 2).atMs = BEGAN + 4_100;
      received(run, 1).answeredMs = BEGAN + 9_000;
    },
  ],
  [
    'a delivery behind one that has held it up for less than it may',
    /which was delivered 6000 ms later/,
    (run) => {
      only(run.endpoints).order = { ordering: 'key', order_skip_after: '4s' };
      received(run, 2).atMs = BEGAN + 2_900;
      received(run, 1).answeredMs = BEGAN + 8_900;
    },
  ],
  [
    'a number that two events have',
    /number 1 is of/,
    (run) => {
      received(run, 2).order = { number: 1, key: KEY };
    },
  ],
  [
    'an event with two numbers',
    /has the numbers 1,3/,
    (run) => {
      received(run, 2).eventId = FIRST;
      received(run, 2).order = { number: 3, previous: 2, key: KEY };
    },
  ],
  [
    'a delivery without a number',
    /came without a number/,
    (run) => {
      delete received(run, 2).order;
    },
  ],
  [
    'a replayed delivery without a number',
    undefined,
    (run) => {
      delete received(run, 2).order;
      delivery(run, 1).single.interventions = [{ action: 'replay', at: iso(BEGAN), by: 'key_1' }];
    },
  ],
  [
    'a delivery that names itself as the one before',
    /number 2 names 2 as the one before/,
    (run) => {
      orderOf(run, 2).previous = 2;
    },
  ],
  [
    'a delivery that names none before it',
    /number 2 names undefined as the one before/,
    (run) => {
      delete orderOf(run, 2).previous;
    },
  ],
  [
    'a delivery that passes over one before it',
    /number 3 names 1 as the one before/,
    (run) => {
      leaveOut(run, 'cancelled', 'a');
      orderOf(run, 2).previous = 1;
    },
  ],
  [
    'a number that never came',
    /the numbers 2 never came, and 0 deliveries were given up before/,
    (run) => leaveOut(run, 'delivered', 'a'),
  ],
  [
    'a number of a delivery that was cancelled before it came',
    undefined,
    (run) => leaveOut(run, 'cancelled', 'a'),
  ],
  [
    'a number that never came, where one of another key was cancelled',
    /the numbers 2 never came/,
    (run) => leaveOut(run, 'cancelled', 'b'),
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
  ['one order for all events of an endpoint', undefined, asEndpoint],
  [
    'a delivery before that of another key, in one order for all',
    /number 2 came before 1/,
    (run) => {
      asEndpoint(run);
      Object.assign(run.posted[1] ?? {}, { orderKey: 'b' });
      received(run, 2).atMs = BEGAN;
    },
  ],
  [
    'a key in one order for all',
    /number 2 came with the key/,
    (run) => {
      asEndpoint(run);
      received(run, 2).order = { number: 2, previous: 1, key: KEY };
    },
  ],
  [
    'no key in an order by keys',
    /number 1 came without a key/,
    (run) => {
      received(run, 2).order = { number: 1 };
    },
  ],
];

describe('the checker of a chaos run, of order', () => {
  for (const [what, finding, change] of CASES)
    it(`${finding ? 'finds' : 'accepts'} ${what}`, () => {
      const run = inOrder();
      change(run);
      const found = order(run).map(({ text }) => text);
      if (finding) assert.match(found.join(), finding);
      else assert.deepEqual(found, []);
    });
});
