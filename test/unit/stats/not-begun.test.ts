import { deepEqual } from 'node:assert/strict';
import type { WithoutRow } from '../../../src/domain/records/row-search.js';
import { notBegun } from '../../../src/temporal/read/backlog/not-begun.js';

describe('deliveries that nothing has begun with', () => {
  const without = (event_id: string): WithoutRow => ({
    ...{ account_id: 'acct_1', event_id, endpoint_id: 'ep_1', event_kind: 'purchase', marks: [] },
  });

  /** Pages of events from the latest on, each with its deliveries without a row. */
  async function found(pages: string[][]): Promise<{ ids: string[]; asked: string[] }> {
    const asked: string[] = [];
    const rows = {
      withoutRows: async (_: string | undefined, { until }: { until: string }) => {
        const page = asked.push(until) - 1;
        return {
          found: (pages[page] ?? []).map(without),
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
});
