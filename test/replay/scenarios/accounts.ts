import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { accountDeletionWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { deleteAccount } from '../../../workflows/index.js';
import { execution, firstRun, retrying, type Scenarios, SLOW } from './stage.js';

/** Every way through the workflow that deletes an account. */
export const ACCOUNTS: Scenarios = {
  'delete-account': {
    settings: SLOW,
    async play(stage) {
      const { accountId } = stage.client;
      const id = await retrying(stage);
      // Paused, it is not released with the others.
      await stage.client.request('POST', `/v18.0/deliveries/${id}/pause`);
      const operator = await stage.system.account(OPERATOR_SCOPES);
      const answer = await operator.request('DELETE', `/v18.0/accounts/${accountId}`);
      if (answer.status !== 202) throw new Error(answer.text);
      return execution(stage, accountDeletionWorkflowId(accountId));
    },
  },
  'delete-account-with-many-endpoints': {
    suggestAfter: 45,
    async play(stage) {
      const { accountId } = stage.client;
      for (let count = 0; count < 14; count += 1)
        await stage.client.register(`${stage.receiver.url}/${count}`);
      const operator = await stage.system.account(OPERATOR_SCOPES);
      const answer = await operator.request('DELETE', `/v18.0/accounts/${accountId}`);
      if (answer.status !== 202) throw new Error(answer.text);
      return firstRun(stage, { workflowId: accountDeletionWorkflowId(accountId) });
    },
  },
  'delete-account-and-payloads': {
    async play(stage) {
      const { accountId } = stage.client;
      await stage.client.purchase();
      const operator = await stage.system.account(OPERATOR_SCOPES);
      const path = `/v18.0/accounts/${accountId}?payloads=erase`;
      const answer = await operator.request('DELETE', path);
      if (answer.status !== 202) throw new Error(answer.text);
      return execution(stage, accountDeletionWorkflowId(accountId));
    },
  },
  'delete-account-carried-on': {
    async play(stage) {
      const { system, client } = stage;
      const account_id = client.accountId;
      const workflowId = accountDeletionWorkflowId(account_id);
      const deletion = {
        stage: 'deliveries',
        credentials_ended: 1,
        endpoints_deleted: 1,
        deliveries_ended: 1,
      } as const;
      const so_far = { deletion, closed_at: Date.now(), found: 1, passes: 1 };
      const origin = { actor: { type: 'api_key', id: client.keyId } } as const;
      await system.temporal.client.workflow.start<typeof deleteAccount>('deleteAccount', {
        workflowId,
        taskQueue: system.settings.HOOKLINE_TASK_QUEUE,
        args: [{ account_id, origin, so_far }],
      });
      return execution(stage, workflowId);
    },
  },
};
