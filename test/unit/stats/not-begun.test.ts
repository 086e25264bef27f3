import { deepEqual } from 'node:assert/strict';
import type { WithoutRow } from '../../../src/domain/records/row-search.js';
import { notBegun } from '../../../src/temporal/read/backlog/not-begun.js';

describe('deliveries that nothing has begun with', () => {
  const without = (event_id: string): WithoutRow => ({
    ...{ account_id: 'acct_1', event_id, endpoint_id: 'ep_1', event_kind: 'purchase', marks: [] },
  });

  /** Pages of events from the latest on, each with its deliveries without a row. */
  async function found(pages: string[][], looked = 200): Promise<{ ids: string[]; asked: string[] }> {
    const asked: string[] = [];
    const rows = {
      withoutRows: async (_: string | undefined, { until }: { until: string }) => {
        const page = asked.push(until) - 1;
        return {
          found: (pages[page] ?? []).map(without),
          looked,
          last: page < pages.length - 1 ? `last of ${page}` : undefined,
        };
      },
    };
    const ids: string[] = [];
    for await (const some of notBegun(rows, 'acct_1')) ids.push(...some.map(({ event_id }) => event_id));
    return { ids, asked };
  }

  it('are looked for back to where all of some events have rows', async () => {
    deepEqual(await found([['evt_4'], ['evt_3', 'evt_2'], [], ['evt_1']]), {
      ids: ['evt_4', 'evt_3', 'evt_2'],
      asked: ['~', 'last of 0', 'last of 1'],
    });
    deepEqual((await found([[], ['evt_1']])).ids, []);
    deepEqual((await found([['evt_1']])).asked, ['~']);
  });

  it('are looked for behind an event with so many deliveries that it was looked at alone, for ten looks', async () => {
    deepEqual((await found([[], [], ['evt_1']], 1)).ids, ['evt_1']);
    const none = Array.from({ length: 10 }, () => []);
    deepEqual((await found([...none.slice(1), ['evt_1']], 1)).ids, ['evt_1']);
    deepEqual((await found([...none, ['evt_1']], 1)).ids, []);
  });
});
