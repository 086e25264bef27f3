import type { Client } from '@temporalio/client';
import { idTime } from '../../../domain/basics/id-time.js';
import { OPEN_STATUSES } from '../../../domain/delivery/delivery.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { OpenDelivery } from '../../../domain/stats/backlog.js';
import { deliveriesOf, everyDeliveryOf } from '../delivery-view.js';
import { accountsIn } from '../installation/accounts-in.js';
import { type Located, RowReader } from '../row-reader.js';
import { type Clause, equals } from '../visibility/query.js';
import { type Execution, listExecutions } from '../visibility/visibility.js';

/** Executions in one call. */
const PAGE = 1_000;

/** More executions than this are not read: it would take seconds, and an execution can hold 120 deliveries. */
export const MAX_OPEN_EXECUTIONS = 20_000;

/** Which open deliveries to read. */
export interface OpenFilter {
  /** Absent: of all accounts, for the operator alone. */
  account_id?: string | undefined;
  endpoint_id?: string | undefined;
  event_kind?: string | undefined;
}

export interface OpenDeliveries {
  deliveries: OpenDelivery[];
  /** Whether these are all: there may be more than {@link MAX_OPEN_EXECUTIONS}. */
  isComplete: boolean;
}

/** The open deliveries, each once, as visibility has them. */
export async function readOpenDeliveries(client: Client, filter: OpenFilter): Promise<OpenDeliveries> {
  const { executions, isComplete } = await listOpen(client, filter);
  const rows = new RowReader(client);
  const found = new Map<string, Promise<OpenDelivery> | OpenDelivery>();
  for (const located of executions.flatMap((execution) => open(execution, filter))) {
    const { id } = located.row.summary;
    if (!found.has(id)) found.set(id, toOpen(rows, located));
  }
  return { deliveries: await Promise.all(found.values()), isComplete };
}

/** An open delivery, and whose it is. */
type OpenLocated = Located & { account_id: string };

async function listOpen(
  client: Client,
  { account_id, endpoint_id, event_kind }: OpenFilter,
): Promise<{ executions: Execution[]; isComplete: boolean }> {
  const clauses: Clause[] = [
    equals('WorkflowType', DELIVERY_TYPE),
    equals('ExecutionStatus', 'Running'),
    ...(account_id ? [equals(ACCOUNT_ATTRIBUTE.name, account_id)] : []),
    ...(endpoint_id ? [equals(ENDPOINT_ATTRIBUTE.name, endpoint_id)] : []),
    ...(event_kind ? [equals(KIND_ATTRIBUTE.name, event_kind)] : []),
  ];
  const executions = new Map<string, Execution>();
  let after: string | undefined;
  do {
    const page = await listExecutions(client, clauses, PAGE, after);
    for (const execution of page.data) executions.set(execution.runId, execution);
    after = page.after;
  } while (after !== undefined && executions.size < MAX_OPEN_EXECUTIONS);
  return { executions: [...executions.values()], isComplete: after === undefined };
}

function open(execution: Execution, { account_id, endpoint_id }: OpenFilter): OpenLocated[] {
  const accountOf = account_id === undefined ? accountsIn(execution) : () => account_id;
  const rows = account_id === undefined ? everyDeliveryOf(execution) : deliveriesOf(execution, account_id);
  return rows
    .filter(
      ({ summary }) =>
        isOpen(summary.status) && (endpoint_id === undefined || summary.endpoint_id === endpoint_id),
    )
    .map((row) => ({ execution, row, account_id: accountOf(row) }));
}

/** The memo of a large group can lack the times of its deliveries: then the history tells. */
async function readDue(rows: RowReader, located: Located): Promise<string | undefined> {
  return (await rows.record(located))?.next_attempt_at;
}

function toOpen(rows: RowReader, located: OpenLocated): OpenDelivery | Promise<OpenDelivery> {
  const { endpoint_id, event_kind, event_id, status, started_at, next_attempt_at } = located.row.summary;
  if (!isOpen(status)) throw new Error(`not open: ${status}`);
  const made = (due: string | undefined): OpenDelivery => ({
    account_id: located.account_id,
    endpoint_id,
    event_kind,
    status,
    createdAt: idTime(event_id),
    ...(due !== undefined && { dueAt: Date.parse(due) }),
  });
  if (status === 'parked') return made(undefined);
  if (status === 'delivering') return made(next_attempt_at ?? started_at);
  return next_attempt_at === undefined ? readDue(rows, located).then(made) : made(next_attempt_at);
}

function isOpen(status: string): status is OpenDelivery['status'] {
  return (OPEN_STATUSES as readonly string[]).includes(status);
}
