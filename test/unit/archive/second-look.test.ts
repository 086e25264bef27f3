import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createArchiveClosed } from '../../../activities/archive/archive-deliveries.js';
import type { ActivityDependencies } from '../../../activities/ports.js';
import type { ClosedExecution } from '../../../src/domain/archive/to-archive.js';
import { TIMINGS } from '../../../src/domain/timings.js';

const HOUR_MS = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

describe('the second look of the archive', () => {
  /** What visibility lists now, by when it closed. */
  const listed = new Map<Date, ClosedExecution>();
  let upTo: Date | undefined;
  let lookedAgainUpTo: Date | undefined;
  let read = 0;

  const archive = {
    upTo: async () => upTo,
    advance: async (to: Date) => {
      upTo = to;
    },
    lookedAgainUpTo: async () => lookedAgainUpTo,
    advanceSecondLook: async (to: Date) => {
      lookedAgainUpTo = to;
    },
    known: async () => new Map(),
    ...Object.fromEntries(
      ['logKept', 'move', 'place', 'addDeliveries'].map((name) => [name, async () => {}]),
    ),
    saveEvents: async () => new Map(),
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
      heads: [],
      async read() {
        read += 1;
        return { deliveries: [], events: [] };
      },
    });

  beforeEach(() => {
    listed.clear();
    [upTo, lookedAgainUpTo, read] = [undefined, undefined, 0];
  });

  it('begins where the first run of the archive has ended, and follows it', async () => {
    await run();
    assert.deepEqual(lookedAgainUpTo, upTo);
    const before = lookedAgainUpTo;
    await run();
    assert.deepEqual(lookedAgainUpTo, before);
  });

  it('finds what visibility listed minutes late, once', async () => {
    [upTo, lookedAgainUpTo] = [ago(5 * 60_000), ago(HOUR_MS)];
    list(ago(20 * 60_000));
    const { is_last } = await run();
    assert.deepEqual([is_last, read], [true, 1]);
    const behind = Date.now() - TIMINGS.archive_second_look_ms - Number(lookedAgainUpTo);
    assert.ok(behind >= 0 && behind < 60_000, `${behind}`);
    await run();
    assert.equal(read, 1);
  });

  it('leaves to the next run what closed a moment ago', async () => {
    [upTo, lookedAgainUpTo] = [ago(5 * 60_000), ago(HOUR_MS)];
    list(ago(10 * 60_000));
    await run();
    assert.equal(read, 0);
  });
});
