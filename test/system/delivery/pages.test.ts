import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createKeeper } from '../../../src/bin/service/ledger.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliveryRecord, DeliveryStatus } from '../../../src/domain/delivery/delivery.js';
import { storableEvent } from '../../../src/domain/delivery/sealed-event.js';
import type { DeliveryFilter } from '../../../src/domain/list/delivery-filter.js';
import { listRows } from '../../../src/temporal/read/delivery-reader.js';
import { PURCHASE } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const DELIVERIES = 8;
const OPEN: DeliveryStatus[] = ['delivering', 'retrying', 'parked'];
const FILTERS: DeliveryFilter[] = [
  {},
  { statuses: ['retrying', 'parked'] },
  { statuses: [...OPEN, 'delivered'] },
  { statuses: ['retrying', 'parked', 'delivered', 'exhausted'] },
];

/** Change of a delivery while a page is read. An open one cannot be sent again, nor a closed one go on. */
const CHANGE = fc.record({
  which: fc.nat(DELIVERIES - 1),
  what: fc.constantFrom('goes on', 'goes on', 'is delivered', 'is exhausted', 'is sent again'),
});

describe('pages of deliveries that are read while these open, close and open again [world]', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  /** Deliveries of an account, each of an event of its own, whose rows are kept as executions tell of them. */
  async function start() {
    const keeper = createKeeper(system);
    const account_id = newId('account');
    const endpoint_id = newId('endpoint');
    let now = Date.now();
    const time = () => new Date(++now).toISOString();
    const events = Array.from({ length: DELIVERIES }, () => ({
      ...{ account_id, event_id: newId('event', now), event_kind: 'purchase', payload: PURCHASE },
      accepted_at: time(),
    }));
    const storable = await Promise.all(events.map((event) => storableEvent(system.sealer, event, undefined)));
    await system.database.events.insert(
      storable.map((one) => ({ ...one, targets: [{ endpoint_id }], carriers: [], starter: 'a test' })),
    );
    const rows = events.map(({ event_id }) => ({
      id: deliveryId({ event_id, endpoint_id }),
      event_id,
      status: 'delivering' as DeliveryStatus,
      runs: 0,
      turn: 0,
      started_at: '',
      /** Statuses since the list was begun, and how often it has moved within it. */
      been: [] as DeliveryStatus[],
      moved: 0,
    }));
    type Row = (typeof rows)[number];

    async function tell(row: Row, status: DeliveryStatus): Promise<void> {
      const isOpen = OPEN.includes(status);
      if (!OPEN.includes(row.status) || row.runs === 0) {
        row.runs += 1;
        row.started_at = time();
      }
      if (isOpen !== OPEN.includes(row.status)) row.moved += 1;
      row.turn += 1;
      row.status = status;
      row.been.push(status);
      const record: DeliveryRecord = { status, attempts: [], ...(!isOpen && { closed_at: time() }) };
      const snapshot = { record, state: { kind: 'closed' } as const, failed: 0 };
      const run = { workflow_id: 'w', run_id: `${row.id}-${row.runs}`, started_at: row.started_at };
      const told = {
        account_id,
        endpoint_id,
        event_kind: 'purchase',
        event_id: row.event_id,
        max_attempts: 2,
      };
      await keeper.keep({ run, turn: row.turn, at: time(), deliveries: [{ ...told, snapshot }] });
    }
    return { account_id, rows, tell };
  }

  it('have each delivery that the filter chooses all the time, and twice only what has moved', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FILTERS),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.constantFrom<DeliveryStatus>('retrying', 'delivered', 'exhausted'), {
          minLength: DELIVERIES,
          maxLength: DELIVERIES,
        }),
        fc.array(fc.array(CHANGE, { maxLength: 4 }), { maxLength: DELIVERIES }),
        async (filter, limit, statuses, meanwhile) => {
          const { account_id, rows, tell } = await start();
          for (const [at, row] of rows.entries()) {
            await tell(row, statuses[at] ?? 'retrying');
            row.moved = 0;
          }
          const sentAgain = new Set<string>();
          const change = async (changes: (typeof meanwhile)[number]) => {
            for (const { which, what } of changes) {
              const row = rows[which] ?? assert.fail();
              const isOpen = OPEN.includes(row.status);
              if (isOpen === (what === 'is sent again')) continue;
              if (what === 'is sent again') sentAgain.add(row.id);
              const next = row.status === 'retrying' ? 'parked' : 'retrying';
              if (what === 'is delivered') await tell(row, 'delivered');
              else if (what === 'is exhausted') await tell(row, 'exhausted');
              else await tell(row, next);
            }
          };
          const seen: string[] = [];
          let after: string | undefined;
          for (let page = 0; page === 0 || after !== undefined; page += 1) {
            const reading = listRows(system.database.records, account_id, filter, limit, after);
            const [found] = await Promise.all([reading, change(meanwhile[page] ?? [])]);
            seen.push(...found.data.map(({ shown }) => shown.id));
            after = found.after;
          }
          for (const { id, been, moved } of rows) {
            const times = seen.filter((one) => one === id).length;
            const { statuses: asked } = filter;
            const isAsked = !asked || been.every((status) => asked.includes(status));
            // What is sent again comes first again: on a page that has been read.
            if (isAsked && !sentAgain.has(id)) assert.ok(times > 0, `${id} is missing: ${been}`);
            assert.ok(times <= 1 + moved, `${id} is there ${times} times: ${been}`);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('go on behind a delivery that is open for one of their queries and closed for the next', async () => {
    const { account_id, rows, tell } = await start();
    for (const row of rows) await tell(row, 'retrying');
    const { records } = system.database;
    const deliveriesWith = Reflect.get(records, 'deliveriesWith') as (
      ...asked: unknown[]
    ) => Promise<unknown>;
    const latest = rows.slice(-2);
    const paced = Object.create(records, {
      deliveriesWith: {
        value: async (...asked: unknown[]) => {
          const found = await deliveriesWith.apply(records, asked);
          for (const row of latest.splice(0)) await tell(row, 'delivered');
          return found;
        },
      },
    });
    const filter: DeliveryFilter = { statuses: ['retrying', 'delivered'] };
    const seen = new Set<string>();
    let after: string | undefined;
    do {
      const page = await listRows(paced, account_id, filter, 1, after);
      for (const { shown } of page.data) seen.add(shown.id);
      after = page.after;
    } while (after !== undefined);
    assert.equal(seen.size, DELIVERIES);
  });
});
