import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { Admission, type PendingDelivery } from '../../../src/temporal/write/admission.js';
import { AdmissionLanes } from '../../../src/temporal/write/admission-lanes.js';
import { StartSlots } from '../../../src/temporal/write/start-slots.js';
import { mockMonotonic } from '../../support/clock.js';
import { delivery, fakeStarts, settled, submit } from '../../support/parts/fake-starts.js';
import { until } from '../../support/until.js';

function admission(startsInFlight = 1) {
  const { starts, startsOf } = fakeStarts();
  return { starts, subject: new Admission(new StartSlots(startsInFlight), startsOf) };
}

/** The same in two lanes. */
function lanes() {
  const { starts, startsOf } = fakeStarts();
  return { starts, subject: new AdmissionLanes(new StartSlots(1), new StartSlots(1), startsOf, 0) };
}

describe('admission', () => {
  it('starts a delivery by itself if a slot is free', async () => {
    const { starts, subject } = admission(2);
    void submit(subject, [delivery()]);
    await settled();
    const { event } = delivery();
    void subject
      .reserve([
        { ...delivery(), event },
        { ...delivery(), event },
      ])
      .stored();
    await settled();
    assert.deepEqual(
      starts.map(({ how, deliveries }) => [how, deliveries.length]),
      [
        ['alone', 1],
        ['alone', 2],
      ],
    );
  });

  it('puts together what arrives while all slots are taken', async () => {
    const { starts, subject } = admission();
    const first = submit(subject, [delivery()]);
    await settled();
    const others = [
      submit(subject, [delivery()]),
      submit(subject, [delivery()]),
      submit(subject, [delivery()]),
    ];
    assert.equal(starts.length, 1);
    starts[0]?.finish();
    await first;
    await settled();
    assert.equal(starts.length, 2);
    assert.equal(starts[1]?.how, 'group');
    assert.equal(starts[1]?.deliveries.length, 3);
    starts[1]?.finish();
    await Promise.all(others);
  });

  it('starts a single delivery as a group after a wait: its event has named it by then', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    void submit(subject, [delivery()]);
    starts[0]?.finish();
    await settled();
    assert.equal(starts[1]?.how, 'group');
  });

  it('keeps groups within their size, and in the order of arrival', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    const all = Array.from({ length: MAX_GROUP_SIZE + 1 }, () => delivery());
    void submit(subject, all);
    starts[0]?.finish();
    await settled();
    assert.deepEqual(starts[1]?.deliveries, all.slice(0, MAX_GROUP_SIZE));
    starts[1]?.finish();
    await until(
      () => starts.length,
      (count) => count === 3,
    );
    assert.deepEqual(starts[2]?.deliveries, all.slice(MAX_GROUP_SIZE));
  });

  it('makes groups whose ids fit into search attributes of 2 KiB, whatever they are of', () => {
    for (const kind of ['account', 'event', 'endpoint'] as const) {
      const ids = Array.from({ length: MAX_GROUP_SIZE }, () => newId(kind));
      assert.ok(JSON.stringify(ids).length <= 2_048, kind);
    }
  });

  it('puts only events of one kind together', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    for (const kind of ['a', 'b', 'a', 'b']) void submit(subject, [delivery({ kind })]);
    starts[0]?.finish();
    await settled();
    assert.deepEqual(
      starts[1]?.deliveries.map(({ event }) => event.event_kind),
      ['a', 'a'],
    );
  });

  it('starts a delivery once that was accepted twice while its group was open', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    const twice = delivery();
    void submit(subject, [twice, { ...twice }]);
    starts[0]?.finish();
    await settled();
    assert.deepEqual(starts[1]?.deliveries, [twice]);
  });

  it('starts a group when it is known of each of its events whether it is stored', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    const [first, second, third] = [delivery(), delivery(), delivery()];
    const reserved = [first, second, third].map((one) => subject.reserve([one]));
    assert.equal(new Set(reserved.map(({ group }) => group)).size, 1);
    void reserved[0]?.stored();
    starts[0]?.finish();
    await settled();
    assert.equal(starts.length, 1, 'two of them may be stored yet');
    const late = subject.reserve([delivery()]);
    assert.notEqual(late.group, reserved[0]?.group, 'which are in it, and no others');
    reserved[1]?.dropped();
    void reserved[2]?.stored();
    await settled();
    assert.deepEqual(starts[1]?.deliveries, [first, third]);
    assert.equal(starts[1]?.id, reserved[0]?.group);
  });

  describe('after a group', () => {
    /** How long the group's start took, milliseconds. */
    const TOOK = 20;
    afterEach(() => {
      mock.timers.reset();
      mock.restoreAll();
    });

    /** A group of two has just been started, and time stands still until it is made to pass. */
    async function afterGroup(...leftBehind: PendingDelivery[]) {
      const { starts, subject } = admission();
      void submit(subject, [delivery()]);
      await settled();
      const group = [submit(subject, [delivery()]), submit(subject, [delivery()])];
      void submit(subject, leftBehind);
      let now = 0;
      mockMonotonic(() => now);
      mock.timers.enable({ apis: ['setTimeout'] });
      starts[0]?.finish();
      await settled();
      now += TOOK;
      starts[1]?.finish();
      await Promise.all(group);
      const pass = async (ms: number) => {
        mock.timers.tick(ms);
        await settled();
      };
      return { starts, subject, pass };
    }

    it('answers before the pause of its slot', async () => {
      const { starts, subject, pass } = await afterGroup();
      void submit(subject, [delivery()]);
      void submit(subject, [delivery()]);
      await settled();
      assert.equal(starts.length, 2, 'what comes now waits for the next group');
      await pass(TOOK);
      assert.equal(starts[2]?.deliveries.length, 2);
    });

    it('waits for as many as were in it', async () => {
      const { starts, subject, pass } = await afterGroup();
      void submit(subject, [delivery()]);
      await pass(TOOK);
      assert.equal(starts.length, 2);
      void submit(subject, [delivery()]);
      await settled();
      assert.equal(starts[2]?.deliveries.length, 2);
    });

    it('but not for long', async () => {
      const { starts, subject, pass } = await afterGroup();
      void submit(subject, [delivery()]);
      await pass(TOOK);
      await pass(10 * TOOK);
      assert.equal(starts[2]?.deliveries.length, 1);
    });

    it('does not pause if deliveries did not fit into the group', async () => {
      const { starts, pass } = await afterGroup(delivery({ kind: 'other' }));
      await pass(TOOK);
      assert.equal(starts[2]?.deliveries.length, 1);
    });
  });

  it('does not let one slow start hold up the others', async () => {
    const { starts, subject } = admission();
    void submit(subject, [delivery()]);
    await settled();
    void submit(subject, [delivery()]);
    await settled();
    assert.equal(starts.length, 1);
    await until(
      () => starts.length,
      (count) => count === 2,
    );
    assert.equal(starts.length, 2, 'though the first has not ended');
  });
});

describe('admission in two lanes', () => {
  const toFailing = () => ({ ...delivery(), placement: { isolated: true } });
  const stored = (subject: AdmissionLanes, deliveries: readonly PendingDelivery[]) =>
    Promise.all(subject.reserve(deliveries).map((one) => one.stored()));

  it('does not let a delivery to a healthy endpoint wait for one to a failing endpoint', async () => {
    const { subject, starts } = lanes();
    void stored(subject, [toFailing()]);
    await settled();
    void stored(subject, [toFailing()]);
    await settled();
    const healthy = stored(subject, [delivery()]);
    await settled();
    assert.equal(starts.length, 2, 'one start in each lane');
    starts[1]?.finish();
    await healthy;
  });

  it('starts an event with deliveries in both lanes in each of them', async () => {
    const { subject, starts } = lanes();
    const [one, other] = [delivery(), toFailing()];
    const reserved = subject.reserve([one, other]);
    assert.deepEqual(
      reserved.map(({ deliveries }) => deliveries),
      [[one], [other]],
    );
    void Promise.all(reserved.map((each) => each.stored()));
    await settled();
    assert.equal(starts.length, 2);
  });
});
