import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import type { ArchiveReads, ListedDelivery } from '../../../src/domain/archive/archived.js';
import { eventsOfDeliveryLists } from '../../../src/temporal/read/archive/both-lists.js';

const EVENTS = 25;
/** Together more than are read at once. */
const DELIVERIES_EACH = 100;

/** Nothing is left in the ledger. */
const client = { workflow: { async *list() {} } } as unknown as Client;

/** Deliveries of each event, of which the oldest endpoint's closed first, so that it stands last in the list. */
const stored: ListedDelivery[] = Array.from({ length: EVENTS * DELIVERIES_EACH }, (_, number) => {
  const event_id = `evt_${number % EVENTS}`;
  const id = `${event_id}~${String(number).padStart(5, '0')}`;
  const summary = JSON.stringify({ id, event_id, event_kind: 'purchase' });
  return { id, event_id, summary, position: String(number).padStart(5, '0') } as ListedDelivery;
}).reverse();

const archive = {
  async deliveries(_account: string, { event_ids }: { event_ids?: readonly string[] }, range, limit) {
    const { above = '', below = '~' } = range as { above?: string; below?: string };
    return stored
      .filter(({ event_id }) => event_ids?.includes(event_id) ?? true)
      .filter(({ position }) => position > above && position < below)
      .slice(0, limit);
  },
} as Partial<ArchiveReads> as ArchiveReads;

describe('events with archived deliveries that match', () => {
  it('are each listed once, at the oldest of all their deliveries, however many there are', async () => {
    const lists = eventsOfDeliveryLists({ client, archive, accountId: 'acct_1' }, {});
    const listed: string[] = [];
    for (let below: string | undefined; ; ) {
      const { rows, floor, isDone } = await lists.archive({ below }, 500);
      listed.push(...rows.map(({ id, position }) => `${id} ${position}`));
      if (isDone) break;
      below = floor;
    }
    const oldest = stored.slice(-EVENTS).map(({ event_id, position }) => `${event_id} ${position}`);
    assert.deepEqual(listed, oldest);
  });
});
