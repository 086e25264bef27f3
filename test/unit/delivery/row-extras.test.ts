import assert from 'node:assert/strict';
import { withBusinessKeys } from '../../../src/api/routes/deliveries/row-extras.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { Database } from '../../../src/models/database.js';

describe('what rows of a list show besides', () => {
  it('is parsed for one row after the other, with turns of the event loop between them', async () => {
    const turns: string[] = [];
    let reads = 0;
    const row = { event_id: newId('event'), event_kind: 'purchase', status: 'delivered' } as DeliverySummary;
    const rows = [1, 2, 3].map((order) => ({
      ...row,
      // The schemas are looked up for all of them, and then each is parsed.
      get payload() {
        reads += 1;
        // V8 may read a getter twice for one pattern with a rest.
        if (reads > rows.length && turns.at(-1) !== `row ${order}`) {
          turns.push(`row ${order}`);
          setImmediate(() => turns.push('another request'));
        }
        return `{"order_id": "order-${order}"}`;
      },
    }));
    const shown = await withBusinessKeys({} as Pick<Database, 'eventKinds'>, rows, () => 'acct_1');
    assert.deepEqual(
      shown.map(({ business_keys }) => business_keys),
      [1, 2, 3].map((order) => [{ name: 'order_id', value: `order-${order}` }]),
    );
    assert.deepEqual(
      turns,
      [1, 2, 3].flatMap((order) => [`row ${order}`, 'another request']),
    );
  });
});
