import type { Client } from '@temporalio/client';
import { createdAt } from '../../../domain/basics/id-time.js';
import type { DeliveryKey } from '../../../domain/basics/ids.js';
import {
  NOTHING_YET,
  type RunAccount,
  type TimelineItem,
  timelineOf,
} from '../../../domain/explain/timeline.js';
import { previousRun } from '../earlier-runs.js';
import { membersOf } from '../group/group-memo.js';
import { readClosingRecord, readStarted } from '../history.js';
import type { Locator } from '../locate.js';
import { RowReader } from '../row-reader.js';
import { describeExecution, type Execution } from '../visibility/visibility.js';
import { readIncidents } from './timeline-incidents.js';
import { type RunRead, readGroupRun, readSingleRun } from './timeline-runs.js';

/** No more runs than this are told, the newest ones; Temporal UI has the others. */
const MAX_RUNS = 20;

/** The attempt that ends a delivery ends an incident of its endpoint a moment later. Milliseconds. */
const INCIDENT_LAG_MS = 10_000;

/** Reads everything that happened to a delivery from the histories of its runs. It needs no worker. */
export class TimelineReader {
  private readonly client: Client;
  private readonly locator: Locator;

  constructor(client: Client, locator: Locator) {
    this.client = client;
    this.locator = locator;
  }

  /** @returns what happened, in order; `undefined` if the account has no such delivery */
  async read(accountId: string, key: DeliveryKey): Promise<TimelineItem[] | undefined> {
    const located = await this.locator.locate(accountId, key);
    if (!located) return undefined;
    const [started, runs, { closed_at }] = await Promise.all([
      readStarted(this.client, located.execution, key.event_id),
      this.readRuns(located.execution, accountId, key),
      new RowReader(this.client).summary(located),
    ]);
    if (!started) return undefined;
    const endpoint = { account_id: accountId, endpoint_id: key.endpoint_id };
    const until = closed_at === undefined ? new Date() : new Date(Date.parse(closed_at) + INCIDENT_LAG_MS);
    const incidents = await readIncidents(this.client, endpoint, createdAt(key.event_id), until);
    const { event_id, event_kind, payload } = started.event;
    return timelineOf(
      { event_id, event_kind, payload_bytes: Buffer.byteLength(payload) },
      withItsBeginning(runs),
      { closedAt: closed_at, others: incidents },
    );
  }

  /** What the runs of a delivery tell, from its newest one back; the oldest first. */
  private async readRuns(newest: Execution, accountId: string, key: DeliveryKey): Promise<RunAccount[]> {
    const runs: RunAccount[] = [];
    let run: Execution | undefined = newest;
    let left: string | undefined;
    while (run && runs.length < MAX_RUNS) {
      const read = await this.readRun(run, accountId, key, left);
      if (!read) break;
      runs.unshift(read.account);
      left = read.continues && read.account.started.at;
      const resent = previousRun(run);
      const before = read.continues ?? (resent && { workflowId: resent.workflow_id, runId: resent.run_id });
      run = before && (await describeExecution(this.client, before.workflowId, before.runId));
    }
    return runs;
  }

  private async readRun(
    run: Execution,
    accountId: string,
    key: DeliveryKey,
    until: string | undefined,
  ): Promise<RunRead | undefined> {
    if (run.type === 'deliverEvent') return readSingleRun(this.client, run);
    const index = membersOf(run).findIndex(
      (member) =>
        member?.account_id === accountId &&
        member.event_id === key.event_id &&
        member.endpoint_id === key.endpoint_id,
    );
    if (index < 0) return undefined;
    if (run.type === 'deliverTogether') return readGroupRun(this.client, run, index, until);
    const record = await readClosingRecord(this.client, run, index);
    const { workflowId: workflow_id, runId: run_id } = run;
    const at = run.startTime.toISOString();
    const started = { at, type: 'started' as const, text: 'Started in a group.', workflow_id, run_id };
    const entries = record ? [{ at: run.closeTime?.toISOString() ?? at, record }] : [];
    return { account: { started, before: NOTHING_YET, entries }, continues: undefined };
  }
}

/** What the oldest run began with is told by no other, such as one that is past its retention. */
function withItsBeginning([first, ...others]: readonly RunAccount[]): RunAccount[] {
  if (!first) return [];
  const { before, entries, started } = first;
  const told = { ...first, before: NOTHING_YET, entries: [{ at: started.at, record: before }, ...entries] };
  return [told, ...others];
}
