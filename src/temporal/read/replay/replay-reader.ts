import type { Client } from '@temporalio/client';
import { replayIdIn, replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import { isOver, NO_PROGRESS, type ReplayProgress } from '../../../domain/replay/replay.js';
import { type Sought, where } from '../visibility/clauses.js';
import { describeExecution, type Execution, listExecutions, type Page } from '../visibility/visibility.js';

/** The memo of a replay's execution. */
export interface ReplayMemo {
  /** Definition of the replay, as it is shown: without the values of business keys. */
  replay: ReplayDefinition;
  progress: ReplayProgress;
}

/** Definition of a replay. */
export interface ReplayDefinition {
  action: string;
  mode?: string;
  registration?: string;
  filter: Record<string, unknown>;
  rate: number;
  by: string;
  reason?: string;
  created_at: string;
}

/** A replay as the HTTP interface shows it. */
export type ReplayView = { id: string } & ReplayDefinition &
  ReplayProgress & {
    closed_at: string | undefined;
    workflow_id: string;
    run_id: string;
  };

/** Reads replays. It needs no worker. */
export class ReplayReader {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** A replay of an account; `undefined` if it has no such replay. */
  async get(accountId: string, id: string): Promise<ReplayView | undefined> {
    const execution = await describeExecution(this.client, replayWorkflowId(accountId, id));
    return execution && view(execution);
  }

  /** A page of an account's replays: open ones first, then the latest closed. */
  async list(accountId: string, limit: number, after?: string): Promise<Page<ReplayView>> {
    const { data, ...rest } = await listExecutions(this.client, where(accountId, REPLAYS), limit, after);
    return { data: data.map(view), ...rest };
  }

  /** The ids of replays that visibility lists as open, at most a number of them. */
  async openIds(accountId: string, limit: number): Promise<string[]> {
    const open = where(accountId, { ...REPLAYS, status: 'Running' });
    const { data } = await listExecutions(this.client, open, limit);
    return data.map(({ workflowId }) => replayIdIn(workflowId));
  }
}

const REPLAYS: Sought = { type: 'replayDeliveries', isCurrent: true };

function view(execution: Execution): ReplayView {
  const { replay, progress = NO_PROGRESS } = (execution.memo ?? {}) as unknown as ReplayMemo;
  const isOpen = execution.status.name === 'RUNNING';
  return {
    id: replayIdIn(execution.workflowId),
    ...replay,
    ...progress,
    // Terminated in Temporal, it could not say so itself.
    state: isOpen || isOver(progress.state) ? progress.state : 'cancelled',
    closed_at: execution.closeTime?.toISOString(),
    workflow_id: execution.workflowId,
    run_id: execution.runId,
  };
}
