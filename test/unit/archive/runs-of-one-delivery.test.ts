import assert from 'node:assert/strict';
import { archiveExecutions } from '../../../activities/archive/archive-deliveries.js';
import type {
  ArchiveWrites,
  ClosedExecution,
  DeliveryToArchive,
  DeliveryToKeep,
  RunKey,
  SealableDelivery,
} from '../../../src/domain/archive/to-archive.js';

const ID = 'dlv_1';

describe('runs of one delivery that closed in one window', () => {
  /** Writes as the archive does: what is there stays, unless it is replaced in the revision that was read. */
  const kept = new Map<string, SealableDelivery>();
  const archive = {
    rows: {
      adopt: async () => false,
      known: async (ids: readonly string[]) =>
        new Map(ids.flatMap((id) => (kept.has(id) ? [[id, { ...kept.get(id) }]] : []))),
      keep: async (some: readonly DeliveryToKeep[]) => {
        for (const { delivery, before } of some)
          if (kept.get(delivery.id)?.revision === before?.revision) kept.set(delivery.id, delivery);
      },
      move: async () => {},
    },
    keepEvents: async () => new Map(),
    saltsOf: async () => undefined,
  } as unknown as ArchiveWrites;

  /** The execution of a run. @param read how long it takes to read, in turns of the event loop */
  function execution(number: number, read: number): ClosedExecution {
    const run_id = `run_${number}`;
    const run: RunKey = { id: ID, run_id, run_order: String(number), position: String(number) };
    const closed = { id: ID, run_id, status: 'delivered', attempts: [] };
    const delivery = {
      ...run,
      account_id: 'acct_1',
      event_id: 'evt_1',
      closed,
    } as unknown as DeliveryToArchive;
    return {
      runs: [run],
      async read() {
        for (let turn = 0; turn < read; turn++) await new Promise((resolve) => setImmediate(resolve));
        return { deliveries: [delivery], events: [] };
      },
    };
  }

  beforeEach(() => kept.clear());

  for (const [what, executions] of Object.entries({
    'the latest is read first': [execution(3, 0), execution(2, 10), execution(1, 20)],
    'the latest is read last': [execution(3, 20), execution(1, 0), execution(2, 10)],
  }))
    it(`are archived one after the other, and the latest stays, if ${what}`, async () => {
      assert.equal(await archiveExecutions({ archive, teller: { note: async () => {} } }, executions), 3);
      const { run_id, revision } = kept.get(ID) ?? assert.fail();
      assert.deepEqual([run_id, revision], ['run_3', 3]);
    });
});
