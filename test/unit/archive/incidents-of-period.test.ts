import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { ENDPOINT_ATTRIBUTE } from '../../../src/domain/ledger/search-attributes.js';
import { IncidentsOfPeriod } from '../../../src/temporal/read/timeline/timeline-incidents.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };

describe('the incidents for the timelines of many deliveries', () => {
  it('are asked for again after they could not be read', async () => {
    let failures = 0;
    const failing = {
      typedSearchAttributes: new TypedSearchAttributes([{ key: ENDPOINT_ATTRIBUTE, value: ['ep_1'] }]),
    };
    const mayFail = (left: number) => {
      if (failures < left) {
        failures += 1;
        throw new Error(`no answer ${failures}`);
      }
    };
    const client = {
      options: { namespace: 'default' },
      workflow: {
        async *list() {
          mayFail(1);
          yield failing;
        },
      },
      workflowService: {
        async listWorkflowExecutions() {
          mayFail(2);
          return { executions: [], nextPageToken: new Uint8Array() };
        },
      },
    } as unknown as Client;
    const now = new Date();
    const incidents = new IncidentsOfPeriod(client, new Date(now.getTime() - 1_000));
    const read = () => incidents.of(ENDPOINT, now.toISOString(), now);
    await assert.rejects(read(), /no answer 1/);
    await assert.rejects(read(), /no answer 2/);
    assert.deepEqual(await read(), []);
  });
});
