import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { Admission } from '../../../src/temporal/write/admission.js';
import { StartSlots } from '../../../src/temporal/write/start-slots.js';
import { mockMonotonic } from '../../support/clock.js';
import { delivery, fakeStarts, settled, submit } from '../../support/parts/fake-starts.js';

describe('admission that lingers', () => {
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  const lingering = (lingerMs: number) => {
    const { starts, startsOf } = fakeStarts();
    return { starts, subject: new Admission(new StartSlots(1), startsOf, lingerMs) };
  };
  const sizes = (starts: readonly { deliveries: readonly unknown[] }[]) =>
    starts.map(({ deliveries }) => deliveries.length);

  it('waits for others while they come soon', async () => {
    const { subject, starts } = lingering(60_000);
    // By a clock of the test's own: one that comes late because the machine was busy ends the wait.
    let now = 0;
    mockMonotonic(() => now);
    mock.timers.enable({ apis: ['setTimeout'] });
    const pass = async (ms: number) => {
      now += ms;
      mock.timers.tick(ms);
      await settled();
    };
    for (let count = 0; count < 30; count++) {
      void submit(subject, [delivery()]);
      await settled();
      await pass(5);
    }
    assert.deepEqual(sizes(starts), []);
    await pass(100);
    assert.deepEqual(sizes(starts), [30]);
  });

  it('starts a delivery at once if the next one may come too late', async () => {
    const { subject, starts } = lingering(100);
    void submit(subject, [delivery()]);
    await settled();
    assert.deepEqual(sizes(starts), [1]);
  });

  it('starts a full group at once', async () => {
    const { subject, starts } = lingering(60_000);
    for (let count = 0; count < MAX_GROUP_SIZE; count++) void submit(subject, [delivery()]);
    await settled();
    assert.deepEqual(sizes(starts), [MAX_GROUP_SIZE]);
  });

  describe('pauses after a group', () => {
    /**
     * A full group whose start took 20 ms, and so many deliveries more.
     *
     * @returns the sizes of groups that have been started when so much time has passed
     */
    async function pausing(waiting: number) {
      const { subject, starts } = lingering(60_000);
      const submitMany = (count: number) => {
        for (let index = 0; index < count; index++) void submit(subject, [delivery()]);
      };
      let now = 0;
      mockMonotonic(() => now);
      mock.timers.enable({ apis: ['setTimeout'] });
      submitMany(MAX_GROUP_SIZE);
      await settled();
      now = 20;
      starts[0]?.finish();
      await settled();
      submitMany(waiting);
      return async (ms: number) => {
        // The first part of the pause has to end before the second one begins.
        for (let passed = 0; passed < ms; passed += 1) {
          mock.timers.tick(1);
          await settled();
        }
        return sizes(starts);
      };
    }

    it('for longer than its start took, if there is another full one', async () => {
      const startedAfter = await pausing(MAX_GROUP_SIZE);
      assert.equal((await startedAfter(20)).length, 1);
      assert.deepEqual(await startedAfter(5), [MAX_GROUP_SIZE, MAX_GROUP_SIZE]);
    });

    it('three times as long if there is none', async () => {
      const startedAfter = await pausing(MAX_GROUP_SIZE - 1);
      assert.equal((await startedAfter(58)).length, 1);
      // Then it waits for more, as it always does.
      const soon = await startedAfter(200);
      assert.deepEqual(soon, [MAX_GROUP_SIZE, MAX_GROUP_SIZE - 1]);
    });
  });
});
