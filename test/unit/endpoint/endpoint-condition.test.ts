import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SLOTS } from '../../../src/domain/endpoint/breaker/endpoint-condition.js';
import type { AttemptSlot } from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { EndpointBench, MOST_DIRECT, QUICK_MS, SLOW_MS } from '../../support/parts/endpoint-bench.js';

describe('the condition of an endpoint', () => {
  let bench: EndpointBench;
  beforeEach(() => {
    bench = new EndpointBench();
  });

  describe('decides on the lane', () => {
    it('of an endpoint that answers quickly: the direct one', async () => {
      assert.deepEqual(bench.conditions.place('ep_1', undefined), { isolated: false });
      await bench.attempt('ep_1', true, 10);
      assert.deepEqual(bench.conditions.place('ep_1', undefined), { isolated: false });
    });

    it('of one that has failed: the isolated one for a minute, or until a quick success', async () => {
      await bench.attempt('ep_1', false, 10);
      assert.equal(bench.isIsolated(), true);
      assert.equal(bench.isIsolated('ep_2'), false);
      await bench.attempt('ep_1', true, 10);
      assert.equal(bench.isIsolated(), false);
      await bench.attempt('ep_1', false, 10);
      bench.now += 59_999;
      assert.equal(bench.isIsolated(), true);
      bench.now += 1;
      assert.equal(bench.isIsolated(), false);
    });

    it('of one that is marked as failing: the isolated one, whatever this process has seen', () => {
      const place = bench.conditions.place('ep_1', { since: bench.iso(-1) });
      assert.deepEqual(place, { isolated: true }, 'attempts are made while few have failed');
    });

    it('of one that hangs: the isolated one before its answer is overdue, if another was quick meanwhile', async () => {
      const slot = await bench.begin();
      bench.now += SLOW_MS - 1;
      await bench.begin();
      assert.equal(bench.isIsolated(), false);
      bench.now += 1;
      assert.equal(bench.isIsolated(), false, 'nobody was quick meanwhile, so it may be this process');
      await bench.attempt('ep_2', true, QUICK_MS);
      assert.equal(bench.isIsolated(), false, 'that was not quick');
      await bench.attempt('ep_2', true, QUICK_MS - 1);
      assert.equal(bench.isIsolated(), true);
      slot.end(true);
      assert.equal(bench.isIsolated(), true, 'taken, but slowly');
    });

    it('of one that answers again: the direct one, whatever comes of attempts that began before', async () => {
      const hanging = [await bench.begin(), await bench.begin()];
      bench.now += SLOW_MS;
      await bench.attempt('ep_2', true, 1);
      assert.equal(bench.isIsolated(), true);
      await bench.attempt('ep_1', true, 1);
      assert.equal(bench.isIsolated(), false);
      for (const slot of hanging) slot.end(false);
      assert.equal(bench.isIsolated(), false);
    });

    it('of one that hangs on some requests and answers others quickly: the isolated one, once more hang than are always made', async () => {
      const quickOne = async () => {
        bench.now += SLOW_MS;
        await bench.attempt('ep_2', true, 1);
        await bench.attempt('ep_1', true, 1);
      };
      const hanging: AttemptSlot[] = [];
      while (hanging.length < SLOTS.fewest) hanging.push(await bench.begin());
      await quickOne();
      assert.equal(bench.isIsolated(), false, 'so many may have begun before it returned');
      hanging.push(await bench.begin());
      await quickOne();
      assert.equal(bench.isIsolated(), true);
      hanging.shift()?.end(false);
      assert.equal(bench.isIsolated(), false);
    });

    it('of every further one, while as many as may be are in flight in the direct lane', async () => {
      for (let index = 1; index < MOST_DIRECT; index += 1) await bench.begin(`ep_${index}`);
      await bench.begin('ep_0', false);
      assert.equal(bench.isIsolated('ep_new'), false);
      const last = await bench.begin('ep_0');
      assert.equal(bench.isIsolated('ep_new'), true);
      last.end(true);
      assert.equal(bench.isIsolated('ep_new'), false);
    });

    it('as if it were new, once 10,000 others have been attempted since', async () => {
      await bench.attempt('ep_0', false, 1);
      for (let index = 1; index < 10_000; index += 1) await bench.attempt(`ep_${index}`, true, 0);
      assert.equal(bench.isIsolated('ep_0'), true);
      await bench.attempt('ep_10000', true, 0);
      assert.equal(bench.isIsolated('ep_0'), false);
    });

    it('as before, however many others it was asked about since', async () => {
      await bench.attempt('ep_0', false, 1);
      for (let index = 1; index <= 10_000; index += 1) bench.conditions.place(`ep_${index}`, undefined);
      assert.equal(bench.isIsolated('ep_0'), true);
    });
  });

  describe('holds a first attempt back', () => {
    const held = (backoffMs: number) =>
      bench.conditions.heldBack({ since: bench.iso(-60_000), backoff_until: bench.iso(backoffMs) });

    it('until the next probe of an endpoint that keeps failing', () => {
      const { endpoint, since, look_again_ms: again } = held(20_000) ?? assert.fail();
      assert.deepEqual([endpoint, since], ['failing', bench.iso(-60_000)]);
      assert.ok(again >= 20_000 + TIMINGS.missed_release_ms, 'long after it should have been released');
    });

    it('also while a probe that is due is being made, but not for longer', () => {
      assert.ok(held(0));
      assert.ok(held(-29_999));
      assert.equal(held(-30_000), undefined);
    });

    it('not if the endpoint is not failing, or has failed only just now', () => {
      assert.equal(bench.conditions.heldBack(undefined), undefined);
      assert.equal(bench.conditions.heldBack({ since: bench.iso(-1) }), undefined);
    });

    it('until different times for different deliveries', () => {
      assert.ok(new Set(Array.from({ length: 10 }, () => held(0)?.look_again_ms)).size > 1);
    });
  });

  describe('whatever happens', () => {
    const event = fc.record({
      taken: fc.boolean(),
      ms: fc.integer({ min: 0, max: 3 * SLOW_MS }),
      begin: fc.integer({ min: 0, max: 2 * SLOTS.most }),
      end: fc.integer({ min: 0, max: 2 * SLOTS.most }),
      asked: fc.integer({ min: 0, max: 200 }),
    });

    it('never has more in flight than may be, nor fewer slots than some, and answers when to ask again', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event), async (events) => {
          const world = new EndpointBench();
          const { conditions } = world;
          const inFlight: AttemptSlot[] = [];
          for (const { taken, ms, begin, end, asked } of events) {
            for (let count = 0; count < begin; count += 1) {
              const slot = await conditions.take('ep_1', { isDirect: true, waitMs: -1 });
              if (slot.kind === 'slot') inFlight.push(slot);
              else assert.ok(inFlight.length >= SLOTS.fewest, 'some are always attempted');
            }
            assert.ok(inFlight.length <= SLOTS.most);
            assert.equal(
              conditions.of('ep_2').freeSlots(undefined, world.now),
              SLOTS.first,
              'others have theirs',
            );
            world.now += ms;
            let latest = world.now;
            for (let count = 0; count < asked; count += 1) {
              const busy = conditions.of('ep_1').refusal(undefined, world.now);
              if (!busy) break;
              const at = world.now + busy.look_again_ms;
              assert.ok(at >= latest && at > world.now && at <= world.now + TIMINGS.slots_ask_at_last_ms);
              latest = at;
            }
            for (const slot of inFlight.splice(0, end)) slot.end(taken);
          }
          for (const slot of inFlight) slot.end(true);
          await world.attempt('ep_1', true, 1);
          assert.deepEqual(conditions.place('ep_1', undefined), { isolated: false }, 'it is well again');
        }),
      );
    });

    it('holds back only what is isolated as well', () => {
      fc.assert(
        fc.property(fc.option(fc.integer({ min: -60_000, max: 60_000 })), (backoffMs) => {
          const mark = {
            since: bench.iso(0),
            ...(backoffMs !== null && { backoff_until: bench.iso(backoffMs) }),
          };
          const { isolated, held } = bench.conditions.place('ep_1', mark);
          assert.equal(isolated, true);
          assert.equal(held !== undefined, backoffMs !== null && backoffMs > -30_000);
        }),
      );
    });
  });
});
