import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import { withBusinessKeys } from '../../../src/api/routes/deliveries/row-extras.js';
import type { ArchiveReads } from '../../../src/domain/archive/archived.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliverySummary } from '../../../src/domain/delivery/delivery-view.js';
import type { PayloadSealer } from '../../../src/domain/privacy/payload-sealer.js';
import type { Database } from '../../../src/models/database.js';
import { MAX_KEYED_PAYLOAD_BYTES, READS_AT_ONCE, RowExtras } from '../../../src/temporal/read/row-extras.js';

const ACCOUNT = 'acct_1';

describe('what rows of a list show besides', () => {
  const endpoint_id = newId('endpoint');
  const rowOf = (event_id = newId('event')) =>
    ({
      id: deliveryId({ event_id, endpoint_id }),
      event_id,
      event_kind: 'purchase',
      status: 'delivered',
    }) as DeliverySummary;
  const sealer = { open: async (_: unknown, text: string) => text } as unknown as PayloadSealer;
  /** @param bytes of the payloads of archived events */
  const extrasOver = (bytes: number, read: () => Promise<void> = async () => {}) => {
    const archive = {
      event: async (_: string, id: string) => {
        await read();
        const event = { id, account_id: ACCOUNT, event_kind: 'purchase', accepted_at: new Date(), keys: [] };
        return { ...event, payload: '{}', payload_bytes: bytes, kept: { sealed: '{}', commitment: '' } };
      },
    } as unknown as ArchiveReads;
    return new RowExtras({ client: {} as Client, sealer, archive });
  };
  const complete = (extras: RowExtras, rows: DeliverySummary[]) =>
    extras.complete(rows, ['business_keys'], () => ACCOUNT);

  it('is read for so many rows at once, whichever lists they are in', async () => {
    let underWay = 0;
    let most = 0;
    const extras = extrasOver(2, async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    });
    const page = () => Array.from({ length: 50 }, () => rowOf());
    const pages = await Promise.all([complete(extras, page()), complete(extras, page())]);
    assert.equal(most, READS_AT_ONCE);
    assert.ok(pages.flat().every(({ payload }) => payload === '{}'));
  });

  it('is no payload that is too large', async () => {
    const payloadOf = async (bytes: number) => (await complete(extrasOver(bytes), [rowOf()]))[0]?.payload;
    assert.equal(await payloadOf(MAX_KEYED_PAYLOAD_BYTES), '{}');
    assert.equal(await payloadOf(MAX_KEYED_PAYLOAD_BYTES + 1), undefined);
  });

  it('is parsed for one row after the other, with turns of the event loop between them', async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turns: number[] = [];
    const rows = [1, 2, 3].map((order) => ({
      ...rowOf(),
      // The schemas are looked up for all of them, and then each is parsed.
      get payload() {
        turns.push(turn);
        return `{"order_id": "order-${order}"}`;
      },
    }));
    const shown = await withBusinessKeys({} as Pick<Database, 'eventKinds'>, rows, () => ACCOUNT);
    isOver = true;
    assert.deepEqual(
      shown.map(({ business_keys }) => business_keys),
      [1, 2, 3].map((order) => [{ name: 'order_id', value: `order-${order}` }]),
    );
    assert.equal(new Set(turns.slice(-3)).size, 3);
  });
});
