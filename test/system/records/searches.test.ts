import assert from 'node:assert/strict';
import { isSubjectMark } from '../../../src/domain/delivery/sealed-event.js';
import type { ApiClient } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** A delivery that waits, with its event. */
interface Kept {
  accountId: string;
  endpoint: string;
  event: string;
  delivery: string;
  /** Stands for the subject of the event. */
  mark: string;
}

/** Every event there is. */
const RANGE = { from: 'evt_', until: 'evt_~' };
const PERIOD = { from: new Date('2020-01-01'), to: new Date('2100-01-01') };

describe('queries of rows and events', () => {
  let system: SharedSystem;
  let own: Kept;
  let other: Kept;
  before(async () => {
    system = await sharedSystem();
    [own, other] = await Promise.all([keep(await system.account()), keep(await system.account())]);
  });

  async function keep(client: ApiClient): Promise<Kept> {
    const { accountId } = client;
    const endpoint = (await client.register('https://subscriber.example', { status: 'paused' })).id;
    const { id: event, deliveries } = await client.purchase();
    const delivery = deliveries[0]?.id ?? '';
    await client.deliveryUntil(delivery, ({ status }) => status === 'parked');
    const keys = (await system.database.records.event(accountId, event))?.keys;
    return { accountId, endpoint, event, delivery, mark: keys?.find(isSubjectMark) ?? '' };
  }

  /** The ids that an account finds. @param of whose ids it knows */
  async function found(account_id: string, { endpoint: endpoint_id, event, delivery, mark }: Kept) {
    const { records } = system.database;
    const { search } = records;
    const marked = (await inAll(search.marked(account_id, mark, 'all'))).flat();
    const exported = (await inAll(records.export(account_id, PERIOD))).map(({ event }) => event);
    return {
      everything: {
        open: idsOf(await search.open({ account_id }, 100)),
        ofEvents: idsOf(await search.ofEvents(account_id, {}, RANGE, 100)),
        events: idsOf(await search.events(account_id, {}, RANGE, 100)),
        withoutRows: (await search.withoutRows(account_id, RANGE, 100)).looked,
        deliveries: idsOf(await records.deliveries(account_id, {}, {}, 100)),
        listed: idsOf(await records.events(account_id, {}, 100, undefined)),
        feed: idsOf(await records.eventHeads(account_id, { after: '', before: '~' }, 100)),
        exported: idsOf(exported),
      },
      named: {
        waiting: idsOf(await search.waiting({ account_id, endpoint_id }, ['parked'], undefined, 100)),
        some: [...(await search.some(account_id, [delivery])).keys()],
        ofEvent: idsOf(await search.ofEvent(account_id, {}, event, '', 100)),
        marked: idsOf(marked),
        deliveriesOf: idsOf(await records.deliveriesOf(account_id, [event], 100)),
        deliveryIdsOf: await records.deliveryIdsOf(account_id, event, 100),
        firstOfEach: [...(await records.firstOfEach(account_id, {}, [event]))],
        heads: idsOf(await records.eventHeads(account_id, [event], 100)),
        eventsOf: [...(await records.eventsOf(account_id, [event])).keys()],
      },
    };
  }

  it('find what an account has, and nothing of another, whatever ids it knows', async () => {
    const { accountId, event, delivery } = own;
    assert.deepEqual(await found(accountId, own), {
      everything: {
        ...{ open: [delivery], ofEvents: [delivery], events: [event], withoutRows: 1 },
        ...{ deliveries: [delivery], listed: [event], feed: [event], exported: [event] },
      },
      named: {
        ...{ waiting: [delivery], some: [delivery], ofEvent: [delivery], marked: [delivery] },
        ...{ deliveriesOf: [delivery], deliveryIdsOf: [delivery], firstOfEach: [delivery] },
        ...{ heads: [event], eventsOf: [event] },
      },
    });
    for (const [name, ids] of Object.entries((await found(accountId, other)).named))
      assert.deepEqual(ids, [], name);
  });

  it('go on behind the last one of a page, also among deliveries that were accepted at the same time', async () => {
    const client = await system.account();
    for (let number = 0; number < 3; number += 1)
      await client.register('https://subscriber.example', { status: 'paused' });
    const ids = (await client.purchase()).deliveries.map(({ id }) => id).sort();
    for (const id of ids) await client.deliveryUntil(id, ({ status }) => status === 'parked');
    for (const limit of [1, 2]) {
      const listed = await readAll<{ id: string }>(client, `/v18.0/deliveries?limit=${limit}`);
      assert.deepEqual(idsOf(listed).sort(), ids, `${limit} on a page`);
    }
  });
});

function idsOf(some: readonly { id: string }[]): string[] {
  return some.map(({ id }) => id);
}

async function inAll<T>(some: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of some) all.push(one);
  return all;
}
