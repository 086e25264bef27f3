import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { idTime } from '../../../domain/basics/id-time.js';
import { SlowAnswers } from '../../../domain/basics/slow-answers.js';
import { OPEN_STATUSES } from '../../../domain/delivery/delivery.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { OpenDelivery } from '../../../domain/stats/backlog.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { deliveriesOf } from '../delivery-view.js';
import { type Located, RowReader } from '../row-reader.js';
import { EVERY_ACCOUNT, where } from '../visibility/clauses.js';
import { toQuery } from '../visibility/query.js';
import { type Execution, everyExecution } from '../visibility/visibility.js';

/** More executions than this are not read: it would take seconds, and an execution can hold 120 deliveries. */
const MAX_OPEN_EXECUTIONS = 20_000;

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

/** Open deliveries as they were at a moment. */
export interface OpenAt extends OpenDeliveries {
  /** Milliseconds since the epoch. */
  at: number;
  /** What was due before is overdue, milliseconds since the epoch: longer than an attempt can take. */
  overdueBefore: number;
}

/** Reads what is open, for counts. */
export class BacklogReader {
  private readonly client: Client;
  private readonly graceMs: number;
  /** Of readings at once in this process: each is several of the list calls that Temporal limits for the namespace. */
  private readonly limit = pLimit(4);
  /** Few of them: each can be large. */
  private readonly answers = new SlowAnswers<OpenAt>(20);

  /** @param graceMs a delivery that has been due for longer is overdue, milliseconds */
  constructor(client: Client, graceMs: number) {
    this.client = client;
    this.graceMs = graceMs;
  }

  /** The open deliveries that match, as they are or were some seconds ago: the longer reading takes, up to ten. */
  read(filter: OpenFilter): Promise<OpenAt> {
    const question = JSON.stringify([filter.account_id, filter.endpoint_id, filter.event_kind]);
    return this.answers.get(question, () => this.limit(() => this.readNow(filter)));
  }

  /** How many endpoints are failing, in all accounts. */
  async openIncidents(): Promise<number> {
    const query = toQuery(where(EVERY_ACCOUNT, { type: 'endpointIncident', status: 'Running' }));
    return (await this.client.workflow.count(query)).count;
  }

  private async readNow(filter: OpenFilter): Promise<OpenAt> {
    const at = sharedNow();
    return { at, overdueBefore: at - this.graceMs, ...(await readOpenDeliveries(this.client, filter)) };
  }
}

/** The open deliveries, each once, as visibility has them. */
async function readOpenDeliveries(client: Client, filter: OpenFilter): Promise<OpenDeliveries> {
  const { executions, isComplete } = await listOpen(client, filter);
  const rows = new RowReader(client);
  const found = new Map<string, Promise<OpenDelivery> | OpenDelivery>();
  for (const located of executions.flatMap((execution) => open(execution, filter))) {
    const { id } = located.row.summary;
    if (!found.has(id)) found.set(id, toOpen(rows, located));
  }
  return { deliveries: await Promise.all(found.values()), isComplete };
}

async function listOpen(
  client: Client,
  { account_id, endpoint_id, event_kind }: OpenFilter,
): Promise<{ executions: Execution[]; isComplete: boolean }> {
  const ofOpen = { type: DELIVERY_TYPE, status: 'Running' };
  const clauses = where(account_id ?? EVERY_ACCOUNT, { ...ofOpen, endpoint: endpoint_id, kind: event_kind });
  const executions = new Map<string, Execution>();
  for await (const execution of everyExecution(client, clauses)) {
    if (executions.size === MAX_OPEN_EXECUTIONS)
      return { executions: [...executions.values()], isComplete: false };
    executions.set(execution.runId, execution);
  }
  return { executions: [...executions.values()], isComplete: true };
}

function open(execution: Execution, { account_id, endpoint_id }: OpenFilter): Located[] {
  return deliveriesOf(execution, account_id ?? EVERY_ACCOUNT)
    .filter(
      ({ summary }) =>
        isOpen(summary.status) && (endpoint_id === undefined || summary.endpoint_id === endpoint_id),
    )
    .map((row) => ({ execution, row }));
}

/** The memo of a large group can lack the times of its deliveries: then the history tells. */
async function readDue(rows: RowReader, located: Located): Promise<string | undefined> {
  return (await rows.record(located))?.next_attempt_at;
}

function toOpen(rows: RowReader, located: Located): OpenDelivery | Promise<OpenDelivery> {
  const { endpoint_id, event_kind, event_id, status, started_at, next_attempt_at } = located.row.summary;
  if (!isOpen(status)) throw new Error(`not open: ${status}`);
  const made = (due: string | undefined): OpenDelivery => ({
    account_id: located.row.account_id,
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
