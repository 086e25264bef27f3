import type { Client } from '@temporalio/client';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import {
  NOTHING_YET,
  type RunAccount,
  type TimelineItem,
  timelineOf,
} from '../../../domain/explain/timeline.js';
import { payloadBytes } from '../../../domain/ledger/sealed-event.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import { type DeliveryRow, deliveriesOf } from '../delivery-view.js';
import { previousRun } from '../earlier-runs.js';
import { readStarted } from '../history.js';
import { type Located, RowReader } from '../row-reader.js';
import { EVERY_ACCOUNT } from '../visibility/clauses.js';
import { describeExecution, type Execution } from '../visibility/visibility.js';
import { readIncidents } from './timeline-incidents.js';
import { type RunRead, readRun } from './timeline-runs.js';

/** No more runs than this are told, the newest ones; Temporal UI has the others. */
const MAX_RUNS = 20;

/** The attempt that ends a delivery ends an incident of its endpoint a moment later. Milliseconds. */
const INCIDENT_LAG_MS = 10_000;

type Incidents = typeof readIncidents;

/** Reads everything that happened to a delivery from the histories of its runs. It needs no worker. */
export class TimelineReader {
  private readonly client: Client;
  private readonly incidents: Incidents;
  /** Accounts of groups' members by run, if all of them are wanted. */
  private readonly groups: Map<string, ReturnType<typeof readRun>> | undefined;

  /**
   * @param forAll reads for many deliveries at once: what the members of a group have in common is read once, and
   * incidents by `incidents`
   */
  constructor(client: Client, forAll?: { incidents: Incidents }) {
    this.client = client;
    this.incidents = forAll?.incidents ?? readIncidents;
    this.groups = forAll && new Map();
  }

  /**
   * @returns what happened to a delivery, in order; `undefined` if its execution does not tell what it was started with
   */
  async read(located: Located): Promise<TimelineItem[] | undefined> {
    const [started, { closed_at }] = await Promise.all([
      readStarted(this.client, located.execution, located.row.summary.event_id),
      new RowReader(this.client).summary(located),
    ]);
    return started && this.tell(located, started.event, closed_at);
  }

  /**
   * @param event what the timeline says of it
   * @param closedAt as every view of the delivery says; absent while it is open
   */
  async tell(
    { execution, row }: Located,
    { event_kind, payload, sealed }: Pick<AcceptedEvent, 'event_kind' | 'payload' | 'sealed'>,
    closedAt: string | undefined,
  ): Promise<TimelineItem[]> {
    const { account_id, summary } = row;
    const { event_id, endpoint_id } = summary;
    const until = closedAt === undefined ? sharedDate() : new Date(Date.parse(closedAt) + INCIDENT_LAG_MS);
    const [runs, incidents] = await Promise.all([
      this.readRuns({ execution, row }),
      this.incidents(this.client, { account_id, endpoint_id }, createdAt(event_id), until),
    ]);
    return timelineOf(
      { event_id, event_kind, payload_bytes: payloadBytes({ payload, sealed }) },
      withItsBeginning(runs),
      { closedAt, others: incidents },
    );
  }

  /** What the runs of a delivery tell, from its newest one back; the oldest first. */
  private async readRuns({ execution, row }: Located): Promise<RunAccount[]> {
    const runs: RunAccount[] = [];
    let run: Execution | undefined = execution;
    while (run && runs.length < MAX_RUNS) {
      const read = await this.readRun(run, row);
      if (!read) break;
      runs.unshift(read.account);
      const resent = previousRun(run);
      const before = read.continues ?? (resent && { workflowId: resent.workflow_id, runId: resent.run_id });
      run = before && (await describeExecution(this.client, before.workflowId, before.runId));
    }
    return runs;
  }

  private async readRun(run: Execution, { account_id, summary }: DeliveryRow): Promise<RunRead | undefined> {
    const members = deliveriesOf(run, EVERY_ACCOUNT);
    const index = members.find(
      (row) => row.account_id === account_id && row.summary.id === summary.id,
    )?.index;
    if (index === undefined) return undefined;
    if (!this.groups) return (await readRun(this.client, run, [index])).get(index);
    const all = await madeOnce(this.groups, run.runId, () =>
      readRun(
        this.client,
        run,
        members.map((row) => row.index),
      ),
    );
    return all.get(index);
  }
}

/** What the oldest run began with is told by no other, such as one that is past its retention. */
function withItsBeginning([first, ...others]: readonly RunAccount[]): RunAccount[] {
  if (!first) return [];
  const { before, entries, started } = first;
  const told = { ...first, before: NOTHING_YET, entries: [{ at: started.at, record: before }, ...entries] };
  return [told, ...others];
}
