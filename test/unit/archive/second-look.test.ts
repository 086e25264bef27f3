import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createArchiveClosed } from '../../../activities/archive/archive-deliveries.js';
import type { ActivityDependencies } from '../../../activities/ports.js';
import type { ClosedExecution, SecondLook } from '../../../src/domain/archive/to-archive.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { clockOfEach } from '../../support/clock.js';

const HOUR_MS = 3_600_000;
const LATER_MS = TIMINGS.archive_second_look_ms;
const ago = (ms: number) => new Date(Date.now() - ms);

describe('the second look of the archive', () => {
  /** What visibility lists now, by when it closed. */
  const listed = new Map<Date, ClosedExecution>();
  let upTo: Date | undefined;
  let look: SecondLook | undefined;
  let read = 0;
  let adoptedAll = 0;
  /** Milliseconds of a clock that the test sets. */
  let readsTake = 0;

  const archive = {
    upTo: async () => upTo,
    advance: async (to: Date) => {
      upTo = to;
    },
    secondLook: async () => look,
    setSecondLook: async (next: SecondLook) => {
      look = next;
    },
    rows: {
      known: async () => new Map(),
      adopt: async () => false,
      adoptAll: async () => {
        adoptedAll += 1;
      },
      keep: async () => {},
      move: async () => {},
    },
    keepEvents: async () => new Map(),
  };
  const closed = {
    closedFrom: async (from: Date, end: Date, widthMs: number) => {
      const to = new Date(Math.min(from.getTime() + widthMs, end.getTime()));
      const executions = [...listed].flatMap(([at, one]) => (at >= from && at < to ? [one] : []));
      return { from, to, executions };
    },
    async *openGroups() {},
  };
  const archiveClosed = createArchiveClosed({
    archive,
    closed,
    timings: TIMINGS,
    ends: { note: async () => {}, next: async () => undefined },
    log: { audit: async () => false },
  } as unknown as ActivityDependencies);
  const run = (): ReturnType<typeof archiveClosed> =>
    new MockActivityEnvironment().run(archiveClosed, { reach_ms: HOUR_MS });

  /** An execution that is listed now. */
  const list = (at: Date) =>
    listed.set(at, {
      runs: [{ id: 'dlv_1', run_id: 'run_1', run_order: '1', position: '1' }],
      async read() {
        read += 1;
        if (readsTake > 0) mock.timers.tick(readsTake);
        return { deliveries: [], events: [] };
      },
    });

  clockOfEach(Date.now());
  beforeEach(() => {
    listed.clear();
    [upTo, look, read, adoptedAll, readsTake] = [undefined, undefined, 0, 0, 0];
  });

  it('begins where the first run of the archive has ended, and is made a quarter of an hour later', async () => {
    await run();
    const first = upTo;
    assert.deepEqual([look?.from, look?.to], [first, first]);
    await run();
    assert.deepEqual(look?.to, first);
    look = { from: ago(HOUR_MS), to: ago(HOUR_MS), at: ago(LATER_MS) };
    await run();
    assert.deepEqual(look.to, upTo);
  });

  it('finds what visibility listed late, once', async () => {
    upTo = ago(60_000);
    look = { from: ago(HOUR_MS), to: ago(20 * 60_000), at: ago(LATER_MS - 5_000) };
    list(ago(40 * 60_000));
    await run();
    assert.equal(read, 0);
    look = { ...look, at: ago(LATER_MS) };
    const { to } = look;
    const { is_last } = await run();
    assert.deepEqual([is_last, read], [true, 1]);
    assert.deepEqual([look.from, look.to], [to, upTo]);
    await run();
    assert.equal(read, 1);
  });

  it('is made of all that the first one went through at once, as after an outage', async () => {
    const began = ago(HOUR_MS);
    upTo = began;
    look = { from: began, to: began, at: ago(LATER_MS) };
    await run();
    assert.deepEqual([look.from, look.to], [began, upTo]);
    list(ago(50 * 60_000));
    await run();
    assert.equal(read, 0);
    look = { ...look, at: ago(LATER_MS) };
    await run();
    assert.equal(read, 1);
  });

  it('is preceded by one at all that was kept, if the last run is longer ago than Temporal keeps anything', async () => {
    upTo = ago(HOUR_MS - 60_000);
    await run();
    assert.equal(adoptedAll, 0);
    upTo = ago(HOUR_MS + 60_000);
    await run();
    await run();
    assert.equal(adoptedAll, 1);
  });

  it('goes on, a window at least, also if the first one has taken all the time of a part', async () => {
    upTo = ago(60_000);
    look = { from: ago(HOUR_MS), to: ago(20 * 60_000), at: ago(LATER_MS) };
    const { to } = look;
    // Longer than a part may take.
    readsTake = 30_000;
    list(ago(30_000));
    list(ago(40 * 60_000));
    const { is_last } = await run();
    assert.deepEqual([is_last, read], [true, 2]);
    assert.deepEqual([look.from, look.to], [to, upTo]);
  });
});
