import type { Client } from '@temporalio/client';
import { replayIdIn, replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import {
  isOver,
  NO_PROGRESS,
  type ReplayInputs,
  type ReplayProgress,
} from '../../../domain/replay/replay.js';
import { type Sought, where } from '../visibility/clauses.js';
import { describeExecution, type Execution, listExecutions, type Page } from '../visibility/visibility.js';

/** The memo of a replay's execution. */
export interface ReplayMemo {
  /** Definition of the replay, as it is shown: without the values of business keys. */
  replay: Omit<ReplayDefinition, 'reason'>;
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
  private readonly inputs: Pick<ReplayInputs, 'of'>;

  constructor(client: Client, inputs: Pick<ReplayInputs, 'of'>) {
    this.client = client;
    this.inputs = inputs;
  }

  /** A replay of an account; `undefined` if it has no such replay. */
  async get(accountId: string, id: string): Promise<ReplayView | undefined> {
    const execution = await describeExecution(this.client, replayWorkflowId(accountId, id));
    return execution && (await this.views([execution]))[0];
  }

  /** A page of an account's replays: open ones first, then the latest closed. */
  async list(accountId: string, limit: number, after?: string): Promise<Page<ReplayView>> {
    const { data, ...rest } = await listExecutions(this.client, where(accountId, REPLAYS), limit, after);
    return { data: await this.views(data), ...rest };
  }

  private async views(executions: readonly Execution[]): Promise<ReplayView[]> {
    const ids = executions.map(({ workflowId }) => replayIdIn(workflowId));
    const inputs = await this.inputs.of(ids);
    return executions.map((execution, at) => view(execution, inputs.get(ids[at] ?? '')?.from.reason));
  }

  /** The ids of replays that visibility lists as open, at most a number of them. */
  async openIds(accountId: string, limit: number): Promise<string[]> {
    const open = where(accountId, { ...REPLAYS, status: 'Running' });
    const { data } = await listExecutions(this.client, open, limit);
    return data.map(({ workflowId }) => replayIdIn(workflowId));
  }
}

const REPLAYS: Sought = { type: 'replayDeliveries', isCurrent: true };

function view(execution: Execution, reason: string | undefined): ReplayView {
  const { replay, progress = NO_PROGRESS } = (execution.memo ?? {}) as unknown as ReplayMemo;
  const isOpen = execution.status.name === 'RUNNING';
  return {
    id: replayIdIn(execution.workflowId),
    ...replay,
    ...(reason !== undefined && { reason }),
    ...progress,
    // Terminated in Temporal, it could not say so itself.
    state: isOpen || isOver(progress.state) ? progress.state : 'cancelled',
    closed_at: execution.closeTime?.toISOString(),
    workflow_id: execution.workflowId,
    run_id: execution.runId,
  };
}
