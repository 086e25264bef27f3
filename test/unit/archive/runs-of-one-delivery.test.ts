import assert from 'node:assert/strict';
import { archiveExecutions } from '../../../activities/archive/archive-deliveries.js';
import type {
  ArchiveWrites,
  ClosedExecution,
  DeliveryToArchive,
  RunKey,
  SealableDelivery,
} from '../../../src/domain/archive/to-archive.js';

const ID = 'dlv_1';

describe('runs of one delivery that closed in one window', () => {
  /** Writes as the archive does: what is there stays, unless it is replaced in the revision that was read. */
  const kept = new Map<string, SealableDelivery>();
  const archive = {
    logStored: async () => {},
    logKept: async () => {},
    known: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (kept.has(id) ? [[id, { ...kept.get(id) }]] : []))),
    keepEvents: async () => new Map(),
    saltsOf: async () => undefined,
    addDeliveries: async (added: readonly SealableDelivery[]) => {
      for (const one of added) if (!kept.has(one.id)) kept.set(one.id, one);
    },
    replaceDelivery: async (delivery: SealableDelivery, { revision }: { revision: number }) => {
      if (kept.get(delivery.id)?.revision === revision) kept.set(delivery.id, delivery);
    },
    move: async () => {},
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
