import assert from 'node:assert/strict';
import { withBusinessKeys } from '../../../src/api/routes/deliveries/row-extras.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { Database } from '../../../src/models/database.js';

describe('what rows of a list show besides', () => {
  it('is parsed for one row after the other, with turns of the event loop between them', async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turns: number[] = [];
    const row = { event_id: newId('event'), event_kind: 'purchase', status: 'delivered' } as DeliverySummary;
    const rows = [1, 2, 3].map((order) => ({
      ...row,
      // The schemas are looked up for all of them, and then each is parsed.
      get payload() {
        turns.push(turn);
        return `{"order_id": "order-${order}"}`;
      },
    }));
    const shown = await withBusinessKeys({} as Pick<Database, 'eventKinds'>, rows, () => 'acct_1');
    isOver = true;
    assert.deepEqual(
      shown.map(({ business_keys }) => business_keys),
      [1, 2, 3].map((order) => [{ name: 'order_id', value: `order-${order}` }]),
    );
    const [first = 0, , last = 0] = turns.slice(-3);
    assert.ok(last > first, `all in turn ${first}`);
  });
});
