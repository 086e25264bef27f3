import assert from 'node:assert/strict';
import type { FailingMark, HeldBack } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { SLOTS } from '../../../src/domain/endpoint/breaker/endpoint-condition.js';
import type { AttemptSlot } from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { EndpointBench, QUICK_MS } from '../../support/parts/endpoint-bench.js';

describe('the slots for attempts at an endpoint', () => {
  let bench: EndpointBench;
  /** As stored with the endpoint. */
  let mark: FailingMark | undefined;
  beforeEach(() => {
    bench = new EndpointBench();
    mark = undefined;
  });
  const take = (waitMs = 0, id = 'ep_1', isChosen = false) =>
    bench.conditions.take(id, { mark, isDirect: true, waitMs, isChosen });
  const refusal = () => bench.conditions.of('ep_1').refusal(undefined, bench.now);

  async function takeAll(id = 'ep_1'): Promise<AttemptSlot[]> {
    const taken: AttemptSlot[] = [];
    for (;;) {
      const slot = await take(0, id);
      if (slot.kind !== 'slot') return taken;
      taken.push(slot);
    }
  }
  /** One round of attempts that begin together and end together. @returns how many there were */
  async function round(areTaken: boolean, ms: number): Promise<number> {
    const attempts = await takeAll();
    bench.now += ms;
    for (const slot of attempts) slot.end(areTaken);
    return attempts.length;
  }
  const full = async (): Promise<HeldBack> => {
    const answer = await take();
    assert.ok(answer.kind === 'not_attempted');
    return answer;
  };
  const askAgainAt = async () => bench.now + (await full()).look_again_ms;

  /** As many rounds of quick answers as it takes until there are as many slots as there can be. */
  async function warmUp(): Promise<void> {
    while ((await round(true, 10)) < SLOTS.most);
  }

  it(`are ${SLOTS.first} at first, and ${SLOTS.most} once the endpoint has taken one`, async () => {
    const sizes: number[] = [];
    for (let index = 0; index < 3; index++) sizes.push(await round(true, 10));
    assert.deepEqual(sizes, [SLOTS.first, SLOTS.most, SLOTS.most]);
    await takeAll();
    assert.equal((await full()).in_flight, SLOTS.most);
  });

  it(`are ${SLOTS.fewest} while the circuit breaker is open, and as many as before when it is closed`, async () => {
    await warmUp();
    mark = { since: bench.iso(0) };
    assert.equal(await round(false, 10), SLOTS.most, 'few have failed');
    mark = { ...mark, backoff_until: bench.iso(5_000) };
    assert.equal(await round(false, 10), SLOTS.fewest);
    assert.equal(await round(true, 10), SLOTS.fewest);
    mark = undefined;
    assert.equal(await round(true, 10), SLOTS.most);
  });

  it('are as few as the endpoint allows, whoever asks, and its attempts wait for as many rounds as that takes', async () => {
    const ask = (isChosen: boolean) =>
      bench.conditions.take('ep_1', { isDirect: true, waitMs: 0, isChosen, most: 2 });
    const taken = [await ask(false), await ask(true)];
    assert.deepEqual(
      taken.map(({ kind }) => kind),
      ['slot', 'slot'],
    );
    for (const isChosen of [false, true]) {
      const answer = await ask(isChosen);
      assert.ok(answer.kind === 'not_attempted');
      assert.deepEqual([answer.in_flight, answer.most], [2, 2]);
    }
    const [first] = taken;
    assert.ok(first?.kind === 'slot');
    assert.equal(first.giveBack().endpoint, 'busy');
    assert.equal((await ask(false)).kind, 'slot');
  });

  it('of one endpoint take none from another', async () => {
    await takeAll();
    assert.equal((await takeAll('ep_2')).length, SLOTS.first);
  });

  it('are as few as at first when the endpoint has taken none for a while', async () => {
    await warmUp();
    bench.now += TIMINGS.slots_rested_ms - 1;
    assert.equal(await round(true, 10), SLOTS.most);
    bench.now += TIMINGS.slots_rested_ms;
    assert.equal(await round(false, 10), SLOTS.first);
    assert.equal(await round(false, 10), SLOTS.first);
  });

  it('are refused without asking once they would have to be waited for too long', async () => {
    assert.equal(refusal(), undefined);
    const [first] = await takeAll();
    bench.now += QUICK_MS - 1;
    assert.equal(bench.isIsolated(), false, 'there will be a slot soon');
    bench.now += 1;
    assert.equal(bench.isIsolated(), true, 'it is saturated');
    assert.equal(refusal(), undefined, 'one of many in flight will end within a second');
    bench.now += 60_000;
    const { in_flight, look_again_ms } = refusal() ?? assert.fail();
    assert.equal(in_flight, SLOTS.first);
    assert.ok(look_again_ms > 0);
    first?.end(true);
    assert.equal(bench.isIsolated(), false, 'there is a slot, and nobody else was quicker');
  });

  it('are not waited for while the endpoint has been silent for long, even if nobody else waits', async () => {
    await warmUp();
    await takeAll();
    bench.now += 2_000;
    const { look_again_ms } = refusal() ?? assert.fail('there is no slot soon');
    assert.ok(look_again_ms >= 2_500, 'it may be silent for longer');
    assert.equal((await take(1_999)).kind, 'not_attempted');
  });

  it('are given to those who wait, first come first served', async () => {
    const [first] = await takeAll();
    const order: string[] = [];
    const one = take(60_000).then(({ kind }) => order.push(`one ${kind}`));
    void take().then(({ kind }) => order.push(`none ${kind}`));
    first?.end(true);
    await one;
    assert.deepEqual(order.sort(), ['none not_attempted', 'one slot']);
  });

  it('are waited for no longer than asked', async () => {
    await round(true, 10);
    await takeAll();
    assert.equal((await take(5)).kind, 'not_attempted');
  });

  it('are not waited for while those in flight take too long', async () => {
    await takeAll();
    bench.now += 60_000;
    assert.equal((await take(900)).kind, 'not_attempted');
  });

  it('have those who find none ask again one after another, within a limit', async () => {
    await warmUp();
    await round(true, 3_000);
    await takeAll();
    const times: number[] = [];
    for (let index = 0; index < 4_000; index++) times.push(await askAgainAt());
    assert.ok(times[0] !== undefined && times[0] > bench.now);
    assert.ok(times.every((time, index) => time >= (times[index - 1] ?? 0)));
    const first = times.filter((time) => time === times[0]).length;
    assert.ok(first <= SLOTS.most, `${first} in the first round`);
    assert.ok((times[SLOTS.most] ?? 0) >= (times[0] ?? 0) + 2_000);
    assert.equal(times.at(-1), bench.now + TIMINGS.slots_ask_at_last_ms);
  });

  it('have them ask half as often while the endpoint has been silent for long', async () => {
    const between = async (inRound: number) => {
      const first = await askAgainAt();
      for (let index = 1; index < inRound; index++) await full();
      return (await askAgainAt()) - first;
    };
    await warmUp();
    await round(true, 1_500);
    await takeAll();
    bench.now += 2_000;
    assert.equal(await between(SLOTS.most), 2_000);
    bench.now += 8_000;
    assert.equal(await between(SLOTS.first), 20_000);
  });

  it('are more for attempts that somebody has chosen', async () => {
    await takeAll();
    assert.equal((await take(0, 'ep_1', true)).kind, 'slot');
  });
});
