import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { idTime } from '../../../domain/basics/id-time.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import {
  isOver,
  type KeptReplay,
  NO_PROGRESS,
  type ReplayDefinition,
  type ReplayProgress,
} from '../../../domain/replay/replay.js';
import { sharedDate, sharedNow } from '../../../domain/time/shared-time.js';
import { unlessAway } from '../unless-away.js';
import { decodeCursor, encodeCursor } from '../visibility/cursor.js';
import { describeExecution, type Page } from '../visibility/visibility.js';

/** The memo of a replay's execution. */
export interface ReplayMemo {
  progress: ReplayProgress;
}

/** A replay with its progress. */
export type ReplayView = { id: string } & ReplayDefinition &
  ReplayProgress & {
    closed_at: string | undefined;
    workflow_id: string;
    run_id: string;
  };

/** A replay as it is shown: while it is open and Temporal is away, its progress is not known. */
export type ShownReplay = Omit<ReplayView, keyof ReplayProgress> & Partial<ReplayProgress>;

/** Replays as they are kept. */
export interface ReplayReads {
  get(accountId: string, id: string): Promise<KeptReplay | undefined>;
  page(
    accountId: string,
    below: string | undefined,
    limit: number,
  ): Promise<{ position: string; replay: KeptReplay }[]>;
}

/** A start whose call has failed can take effect for so long, milliseconds. */
const ON_ITS_WAY_MS = 10_000;

const CURSOR = z.tuple([z.string().max(100)]);

/** Reads replays as they are kept, and asks Temporal how far open ones are. It needs no worker. */
export class ReplayReader {
  private readonly client: Client;
  private readonly replays: ReplayReads;

  constructor(client: Client, replays: ReplayReads) {
    this.client = client;
    this.replays = replays;
  }

  /** A replay of an account; `undefined` if it has no such replay. */
  async get(accountId: string, id: string): Promise<ShownReplay | undefined> {
    const kept = await this.replays.get(accountId, id);
    return kept && this.shown(kept);
  }

  /** A page of an account's replays: open ones first, then the latest closed. */
  async list(accountId: string, limit: number, after?: string): Promise<Page<ShownReplay>> {
    const below = after === undefined ? undefined : decodeCursor(after, CURSOR)[0];
    const found = await this.replays.page(accountId, below, limit + 1);
    const shown = found.slice(0, limit);
    return {
      data: await Promise.all(shown.map(({ replay }) => this.shown(replay))),
      ...(found.length > limit && { after: encodeCursor([shown.at(-1)?.position]) }),
    };
  }

  private shown(kept: KeptReplay): Promise<ShownReplay> {
    const { id, account_id, definition } = kept;
    const workflow_id = replayWorkflowId(account_id, id);
    const known = { id, ...definition, closed_at: undefined, workflow_id, run_id: '' };
    return unlessAway(this.client, () => this.view(kept), known);
  }

  /** A replay as it is now. @throws if it is open and Temporal is away */
  async view({ id, account_id, definition, end }: KeptReplay): Promise<ReplayView> {
    const workflow_id = replayWorkflowId(account_id, id);
    if (end) {
      const { progress, closed_at, run_id } = end;
      return { id, ...definition, ...progress, closed_at, workflow_id, run_id };
    }
    const execution = await describeExecution(this.client, workflow_id);
    const { progress = NO_PROGRESS } = (execution?.memo ?? {}) as Partial<ReplayMemo>;
    const isOpen = execution ? execution.status.name === 'RUNNING' : idTime(id) > sharedNow() - ON_ITS_WAY_MS;
    return {
      ...{ id, ...definition, ...progress },
      // Terminated in Temporal, or never started, it could not say so itself.
      state: isOpen || isOver(progress.state) ? progress.state : 'cancelled',
      closed_at: isOpen ? undefined : (execution?.closeTime ?? sharedDate()).toISOString(),
      workflow_id,
      run_id: execution?.runId ?? '',
    };
  }
}
