import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { ShownStatus } from '../../../src/domain/delivery/delivery.js';
import type { OrderRule } from '../../../src/domain/event/ordering.js';
import {
  DeliveryOrder,
  type OrderPlaces,
  type PlacedDelivery,
} from '../../../src/domain/order/delivery-order.js';
import { TIMINGS } from '../../../src/domain/timings.js';

const ACCOUNT = 'acct_1';
const STREAM = 'ep_1 o:a';
const BY_KEY: OrderRule = { ordering: 'key' };

/** A stream in memory, and the rows of its deliveries. */
class Stream implements OrderPlaces {
  readonly placed: PlacedDelivery[] = [];
  passed = 0;
  passedAt = 0;
  woken: string[] = [];
  looks = 0;
  readonly order: DeliveryOrder;

  constructor(rule: OrderRule = BY_KEY) {
    this.order = new DeliveryOrder(this, {
      rule: async () => rule,
      wake: async ({ event_id }) => {
        this.woken.push(event_id);
      },
    });
  }

  at(number: number): PlacedDelivery {
    const one = this.placed[number - 1];
    if (!one) throw new Error(`nothing has the place ${number}`);
    return one;
  }

  add(count: number, more: Partial<PlacedDelivery> = {}): void {
    for (let last = this.placed.length; count > 0; count -= 1) {
      last += 1;
      this.placed.push({ ...nameOf(last), number: last, at: Date.now(), ...more });
    }
  }

  look(number: number, rule: OrderRule = BY_KEY, more: object = {}) {
    return this.order.look({ ...nameOf(number), order_key: 'o:a', number: 1, ...more }, rule);
  }

  kept(number: number) {
    return this.order.kept([{ ...nameOf(number), account_id: ACCOUNT }]);
  }

  async take(some: Parameters<OrderPlaces['take']>[0]) {
    this.add(some.length);
    return new Map(some.map((one) => [deliveryId(one), { stream: STREAM, number: this.placed.length }]));
  }

  async find({ event_id }: { event_id: string }) {
    const found = this.placed.find((one) => one.event_id === event_id);
    return found && { stream: STREAM, number: found.number };
  }

  async state() {
    return { last: this.placed.length, passed: this.passed, passed_at: this.passedAt };
  }

  async between(_: string, first: number, last: number) {
    this.looks += 1;
    return new Map(this.placed.slice(first - 1, last).map((one) => [one.number, one]));
  }

  async pass(_: string, number: number, at: number) {
    this.passed = Math.max(this.passed, number);
    this.passedAt = Math.max(this.passedAt, at);
  }
}

function nameOf(number: number) {
  return { event_id: `evt_${number}`, endpoint_id: 'ep_1' };
}

describe('deliveries of a stream', () => {
  it('wait for the first that is not over, whichever ends before it', async () => {
    const stream = new Stream();
    stream.add(4);
    stream.at(2).status = 'cancelled';
    stream.at(3).status = 'delivered';
    const { waits, place } = await stream.look(4);
    assert.deepEqual(place, { stream: STREAM, number: 4 });
    assert.deepEqual(waits?.first, { number: 1, event_id: 'evt_1' });
    assert.equal(waits?.look_again_ms, 3 * TIMINGS.order_look_ms);
    stream.at(1).status = 'delivered';
    assert.equal((await stream.look(4)).waits, undefined);
    assert.equal(stream.passed, 3);
  });

  it('wait for what has ended without success, and say so, unless it is skipped', async () => {
    const stream = new Stream();
    stream.add(2);
    stream.at(1).status = 'exhausted';
    assert.deepEqual((await stream.look(2)).waits?.first, {
      ...{ number: 1, event_id: 'evt_1', status: 'exhausted' },
    });
    assert.equal((await stream.look(2, { ...BY_KEY, order_skip: 'exhausted' })).waits, undefined);
    // What was skipped stays skipped.
    assert.equal((await stream.look(2)).waits, undefined);
  });

  it('skip one after another what holds them up for too long, each after its time', async () => {
    const stream = new Stream();
    stream.add(3, { at: Date.now() - 61_000 });
    const rule = { ...BY_KEY, order_skip_after: '1m' };
    const { waits } = await stream.look(3, rule);
    assert.equal(waits?.first.number, 2);
    assert.ok((waits?.look_again_ms ?? 0) <= 60_000);
    stream.passedAt -= 60_001;
    assert.equal((await stream.look(3, rule)).waits, undefined);
  });

  it('look again sooner at first, and at the time at which one is skipped', async () => {
    const stream = new Stream();
    stream.add(2, { at: Date.now() - 100_000 });
    const look = async (rule = BY_KEY) => (await stream.look(2, rule)).waits?.look_again_ms ?? 0;
    assert.ok(Math.abs((await look()) - 50_000) < 1_000);
    assert.ok(Math.abs((await look({ ...BY_KEY, order_skip_after: '110s' })) - 10_000) < 1_000);
    stream.at(1).at -= 86_400_000;
    assert.equal(await look(), TIMINGS.order_look_most_ms);
  });

  it('wait in no order once the endpoint has none, after their first attempt, or if they are sent again', async () => {
    const stream = new Stream();
    stream.add(2);
    assert.deepEqual(await stream.look(2, {}), {});
    for (const more of [{ number: 2 }, { is_resend: true }]) {
      const { waits, place } = await stream.look(2, BY_KEY, more);
      assert.equal(waits, undefined);
      assert.equal(place?.number, 2);
    }
  });

  it('take their place when they are looked at, if who accepted them has died before', async () => {
    const stream = new Stream();
    stream.add(1);
    assert.equal((await stream.look(2)).waits?.first.number, 1);
    assert.equal(stream.placed.length, 2);
    // One that is sent again long after its place is gone gets none.
    assert.deepEqual(await stream.look(7, BY_KEY, { is_resend: true }), {});
  });

  it('are woken by whoever closes the one in front, also behind others that are over', async () => {
    const stream = new Stream();
    stream.add(30);
    for (let number = 1; number <= 24; number += 1) stream.at(number).status = 'cancelled';
    stream.at(25).waits_in = 'delivery:25';
    await stream.kept(1);
    assert.deepEqual(stream.woken, ['evt_25']);
    stream.at(25).waits_in = undefined;
    await stream.kept(1);
    assert.equal(stream.woken.length, 1);
  });

  it('do not wait for one whose place is not kept any more', async () => {
    const stream = new Stream();
    stream.add(3);
    stream.between = async (_, first, last) =>
      new Map([[3, stream.at(3)] as const].filter(([number]) => number >= first && number <= last));
    assert.equal((await stream.look(3)).waits, undefined);
    await stream.kept(3);
    assert.equal(stream.passed, 2);
  });

  it('never begin before those in front are over, whatever ends when, and however often somebody looks', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            number: fc.integer({ min: 1, max: 8 }),
            what: fc.constantFrom<ShownStatus | 'look'>(
              ...(['look', 'look', 'look', 'cancelled', 'exhausted', 'parked', 'delivered'] as const),
            ),
          }),
          { maxLength: 80 },
        ),
        async (steps) => {
          const stream = new Stream();
          stream.add(8);
          const over = new Set<number>();
          for (const { number, what } of steps) {
            if (what !== 'look') {
              stream.at(number).status = what;
              if (what === 'delivered' || what === 'cancelled') over.add(number);
              continue;
            }
            const { waits } = await stream.look(number);
            if (!waits) for (let before = 1; before < number; before += 1) assert.ok(over.has(before));
          }
        },
      ),
    ));
});
