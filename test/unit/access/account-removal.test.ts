import assert from 'node:assert/strict';
import { createAccountRemoval } from '../../../src/bin/service/account-removal.js';

describe('the removal of an account', () => {
  it('is over when nothing waits to be sent, in MongoDB or in Temporal, and no endpoint is looked after', async () => {
    const left = new Set(['scheduled events', 'consumers', 'their executions', 'workflows of endpoints']);
    const remove = (what: string) => async (accountId: string) => {
      assert.equal(accountId, 'acct_1');
      left.delete(what);
    };
    const over: string[][] = [];
    const database = {
      scheduled: { removeAll: remove('scheduled events') },
      feedConsumers: { removeAll: remove('consumers') },
      accounts: { endDeletion: async () => void over.push([...left]) },
    };
    const accountDeletions = {
      endScheduled: remove('their executions'),
      endEndpointWorkflows: remove('workflows of endpoints'),
    };
    const removal = createAccountRemoval(database as never, { accountDeletions } as never);
    await removal.finish({ account_id: 'acct_1' } as never, {} as never);
    assert.deepEqual(over, [[]]);
  });
});
