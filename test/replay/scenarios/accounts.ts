import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { accountDeletionWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { execution, firstRun, retrying, type Scenarios, SLOW, type Stage } from './stage.js';

/** Every way through the workflow that deletes an account. */
export const ACCOUNTS: Scenarios = {
  'delete-account': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      // Paused, it is not released with the others.
      await stage.client.request('POST', `/v18.0/deliveries/${id}/pause`);
      return execution(stage, await deleteClientsAccount(stage));
    },
  },
  'delete-account-with-many-endpoints': {
    suggestAfter: 45,
    async play(stage) {
      for (let count = 0; count < 14; count += 1)
        await stage.client.register(`${stage.receiver.url}/${count}`);
      return firstRun(stage, { workflowId: await deleteClientsAccount(stage) });
    },
  },
  'delete-account-and-payloads': {
    async play(stage) {
      await stage.client.purchase();
      return execution(stage, await deleteClientsAccount(stage, '?payloads=erase'));
    },
  },
};

/** Asks for the deletion of the account that a scenario is played in. @returns the workflow that does it */
async function deleteClientsAccount({ system, client }: Stage, query = ''): Promise<string> {
  const operator = await system.account(OPERATOR_SCOPES);
  const answer = await operator.request('DELETE', `/v18.0/accounts/${client.accountId}${query}`);
  if (answer.status !== 202) throw new Error(answer.text);
  return accountDeletionWorkflowId(client.accountId);
}
