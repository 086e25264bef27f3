import type { Client } from '@temporalio/client';
import { ACCOUNT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import { numbersOf } from '../group/group-memo.js';
import { equals, isAfter, isBefore, isOneOf, toQuery } from '../visibility/query.js';

const LIST_AT_ONCE = 1_000;

/**
 * Numbers of an account's events whose deliveries were started in a period, as far as Temporal has them: those of an execution at once. A number can come several times.
 *
 * @param period of starts, which is later than the events' acceptance: by a day, if its request was repeated
 */
export async function* ledgerNumbers(
  client: Client,
  accountId: string,
  { from, to }: { from: Date; to: Date },
): AsyncIterable<number[]> {
  const query = toQuery([
    isOneOf('WorkflowType', [DELIVERY_TYPE, 'fanOutEvent']),
    equals(ACCOUNT_ATTRIBUTE.name, accountId),
    isAfter('StartTime', from),
    isBefore('StartTime', to),
  ]);
  for await (const execution of client.workflow.list({ query, pageSize: LIST_AT_ONCE }))
    yield numbersOf(execution, accountId);
}
