import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { LedgerBusyError } from '../../../src/temporal/errors.js';
import {
  Admission,
  MAX_GROUP_BYTES,
  MAX_WAITING,
  type PendingDelivery,
} from '../../../src/temporal/write/admission.js';
import { AdmissionLanes } from '../../../src/temporal/write/admission-lanes.js';
import { StartSlots } from '../../../src/temporal/write/start-slots.js';
import { delivery, fakeStarts, settled } from '../../support/parts/fake-starts.js';
import { until } from '../../support/until.js';

function admission(startsInFlight = 1) {
  const { starts, startsOf } = fakeStarts();
  return { starts, subject: new Admission(new StartSlots(startsInFlight), startsOf) };
}

/** The same in two lanes. */
function lanes() {
  const { starts, startsOf } = fakeStarts();
  return { starts, subject: new AdmissionLanes(new StartSlots(1), new StartSlots(1), startsOf) };
}

describe('admission', () => {
  it('starts a delivery by itself if a slot is free', async () => {
    const { starts, subject } = admission(2);
    void subject.submit([delivery()]);
    await settled();
    const { event } = delivery();
    void subject.submit([
      { ...delivery(), event },
      { ...delivery(), event },
    ]);
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
    const first = subject.submit([delivery()]);
    await settled();
    const others = [subject.submit([delivery()]), subject.submit([delivery()]), subject.submit([delivery()])];
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

  it('starts a single delivery by itself after a wait', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    void subject.submit([delivery()]);
    starts[0]?.finish();
    await settled();
    assert.equal(starts[1]?.how, 'alone');
  });

  it('keeps groups within their size, and in the order of arrival', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    const all = Array.from({ length: MAX_GROUP_SIZE + 1 }, () => delivery());
    void subject.submit(all);
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

  it('keeps groups within their bytes, counting an event once', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    const payload = 'x'.repeat(MAX_GROUP_BYTES / 2);
    void subject.submit([delivery({ payload, event: 'evt_a' }), delivery({ payload, event: 'evt_a' })]);
    void subject.submit([delivery({ payload })]);
    void subject.submit([delivery({ payload })]);
    starts[0]?.finish();
    await settled();
    assert.equal(starts[1]?.deliveries.length, 3);
  });

  it('limits accounts and business keys to the size of one search attribute', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    const account = 'acct_00000000000000000000000000';
    const token = () => `k:${newId('event').slice(-16)}`;
    const many = Array.from({ length: 2 * MAX_GROUP_SIZE }, () =>
      delivery({ account, keys: Array.from({ length: 5 }, token) }),
    );
    const shared = token();
    const alike = Array.from({ length: MAX_GROUP_SIZE }, () => delivery({ account, keys: [shared] }));
    for (const one of [...many, ...alike]) void subject.submit([one]);
    for (let index = 0; index < starts.length; index += 1) {
      starts[index]?.finish();
      await until(
        () => starts.flatMap(({ deliveries }) => deliveries).length,
        (started) => starts.length > index + 1 || started > 180,
      );
    }
    const sizes = starts.map(({ deliveries }) => deliveries.length);
    const bytes = starts.map(({ deliveries }) => {
      const names = deliveries.flatMap(({ event }) => [event.account_id, ...(event.keys ?? [])]);
      return Buffer.byteLength(JSON.stringify([...new Set(names)]));
    });
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      1 + many.length + alike.length,
    );
    assert.ok(Math.max(...bytes) <= 2_048, bytes.join());
    assert.ok(
      sizes.slice(1, -3).every((size) => size === 19),
      sizes.join(),
    );
    assert.ok(Math.max(...sizes) > 50, sizes.join());
  });

  it('puts only events of one kind together', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    for (const kind of ['a', 'b', 'a', 'b']) void subject.submit([delivery({ kind })]);
    starts[0]?.finish();
    await settled();
    assert.deepEqual(
      starts[1]?.deliveries.map(({ event }) => event.event_kind),
      ['a', 'a'],
    );
  });

  it('tells everybody in a group that it could not be started', async () => {
    const { starts, subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    const waiting = [subject.submit([delivery()]), subject.submit([delivery()])];
    starts[0]?.finish();
    await settled();
    starts[1]?.fail(new Error('no'));
    for (const one of waiting) await assert.rejects(one, /no/);
    void subject.submit([delivery()]);
    await settled();
    assert.equal(starts.length, 3, 'the slot is free again');
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
      void subject.submit([delivery()]);
      await settled();
      const group = [subject.submit([delivery()]), subject.submit([delivery()])];
      void subject.submit(leftBehind);
      let now = 0;
      mock.method(performance, 'now', () => now);
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
      void subject.submit([delivery()]);
      void subject.submit([delivery()]);
      await settled();
      assert.equal(starts.length, 2, 'what comes now waits for the next group');
      await pass(TOOK);
      assert.equal(starts[2]?.deliveries.length, 2);
    });

    it('waits for as many as were in it', async () => {
      const { starts, subject, pass } = await afterGroup();
      void subject.submit([delivery()]);
      await pass(TOOK);
      assert.equal(starts.length, 2);
      void subject.submit([delivery()]);
      await settled();
      assert.equal(starts[2]?.deliveries.length, 2);
    });

    it('but not for long', async () => {
      const { starts, subject, pass } = await afterGroup();
      void subject.submit([delivery()]);
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
    void subject.submit([delivery()]);
    await settled();
    void subject.submit([delivery()]);
    await settled();
    assert.equal(starts.length, 1);
    await until(
      () => starts.length,
      (count) => count === 2,
    );
    assert.equal(starts.length, 2, 'though the first has not ended');
  });

  it(`refuses deliveries beyond ${MAX_WAITING} that wait`, async () => {
    const { subject } = admission();
    void subject.submit([delivery()]);
    await settled();
    void subject.submit(Array.from({ length: MAX_WAITING }, () => delivery()));
    await assert.rejects(subject.submit([delivery()]), LedgerBusyError);
  });
});

describe('admission in two lanes', () => {
  const toFailing = () => ({ ...delivery(), placement: { isolated: true } });

  it('does not let a delivery to a healthy endpoint wait for one to a failing endpoint', async () => {
    const { subject, starts } = lanes();
    const first = subject.submit([toFailing()]);
    await settled();
    const second = subject.submit([toFailing()]);
    await settled();
    const healthy = subject.submit([delivery()]);
    await settled();
    assert.equal(starts.length, 2, 'one start in each lane');
    starts[1]?.finish();
    await healthy;
    starts[0]?.finish();
    await first;
    await until(
      () => starts.length,
      (count) => count === 3,
    );
    starts[2]?.finish();
    await second;
  });

  it('answers an event with deliveries in both lanes when both are persisted', async () => {
    const { subject, starts } = lanes();
    let isDone = false;
    const both = subject.submit([delivery(), toFailing()]).then(() => {
      isDone = true;
    });
    await settled();
    starts[0]?.finish();
    await settled();
    assert.equal(isDone, false);
    starts[1]?.finish();
    await both;
  });

  it('starts nothing of an event for which one lane has no room', async () => {
    const { subject, starts } = lanes();
    void subject.submit([toFailing()]);
    await settled();
    void subject.submit(Array.from({ length: MAX_WAITING }, toFailing));
    const healthy = delivery();
    // In the same turn of the event loop, while nothing has left the lane.
    await assert.rejects(subject.submit([healthy, toFailing()]), LedgerBusyError);
    await settled();
    assert.ok(starts.every(({ deliveries }) => !deliveries.includes(healthy)));
  });
});
