import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { replayDeliveries } from '../../../../workflows/index.js';
import { type Operator, REPLAY_UPDATES } from '../../../../workflows/messages.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import {
  describeReplay,
  MAX_OPEN_REPLAYS,
  NO_PROGRESS,
  type ReplayPlan,
  type ReplayProgress,
} from '../../../domain/replay/replay.js';
import { ReplayStateConflictError, TooManyReplaysError } from '../../errors.js';
import type { ReplayMemo, ReplayReader } from '../../read/replay/replay-reader.js';
import { sendUpdate } from '../send-update.js';

/** Visibility lists a replay a moment after it was started; until then it is known here. Milliseconds. */
const LISTED_WITHIN_MS = 10_000;

export interface ReplaysOptions {
  client: Client;
  taskQueue: string;
  reader: ReplayReader;
}

/** Starts and steers replays. */
export class Replays {
  private readonly options: ReplaysOptions;
  /** Replays that this process has started of late, by account: id, and when. */
  private readonly recent = new Map<string, Map<string, number>>();

  constructor(options: ReplaysOptions) {
    this.options = options;
  }

  /**
   * Starts a replay. Resolves once Temporal has persisted it.
   *
   * @throws TooManyReplaysError if the account has {@link MAX_OPEN_REPLAYS} that are not over. The processes of an installation count by
   *   visibility, so several that start one within the same second may exceed it together
   */
  async start(plan: ReplayPlan, shown: ReplayMemo['replay']): Promise<void> {
    const { client, taskQueue } = this.options;
    const { account_id, replay_id, filter } = plan;
    const recent = this.recentOf(account_id);
    const earlier = [...recent.keys()];
    recent.set(replay_id, Date.now());
    try {
      await this.refuseTooMany(account_id, earlier);
      await client.workflow.start<typeof replayDeliveries>('replayDeliveries', {
        workflowId: replayWorkflowId(account_id, replay_id),
        taskQueue,
        args: [{ plan }],
        memo: { replay: shown, progress: NO_PROGRESS } satisfies ReplayMemo,
        staticSummary: describeReplay(plan, NO_PROGRESS).split(',')[0] ?? '',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ACCOUNT_ATTRIBUTE, value: [account_id] },
          ...(filter.endpoint_id ? [{ key: ENDPOINT_ATTRIBUTE, value: [filter.endpoint_id] }] : []),
        ]),
      });
    } catch (error) {
      recent.delete(replay_id);
      throw error;
    }
  }

  /**
   * Pauses, resumes or cancels a replay, and waits for its answer.
   *
   * @returns its progress; `undefined` if the account has no such replay that is not over
   * @throws ReplayStateConflictError if its state does not allow it, NoWorkerError if no worker answers
   */
  async act(
    action: keyof typeof REPLAY_UPDATES,
    accountId: string,
    replayId: string,
    by: string,
  ): Promise<ReplayProgress | undefined> {
    const refused = (message: string) => new ReplayStateConflictError(message);
    const workflowId = replayWorkflowId(accountId, replayId);
    return sendUpdate<ReplayProgress, Operator | undefined>(
      this.options.client,
      workflowId,
      REPLAY_UPDATES[action],
      { by },
      { refused },
    );
  }

  /** Counts those that visibility lists as open, and those of this process that it may not list yet. */
  private async refuseTooMany(accountId: string, recent: readonly string[]): Promise<void> {
    const { reader } = this.options;
    const listed = new Set(await reader.openIds(accountId, MAX_OPEN_REPLAYS + 1));
    const others = recent.filter((id) => !listed.has(id));
    const isOpen = await Promise.all(
      others.map(async (id) => {
        const replay = await reader.get(accountId, id);
        // One that is not there is being started.
        return replay === undefined || replay.closed_at === undefined;
      }),
    );
    if (listed.size + isOpen.filter(Boolean).length >= MAX_OPEN_REPLAYS)
      throw new TooManyReplaysError(MAX_OPEN_REPLAYS);
  }

  private recentOf(accountId: string): Map<string, number> {
    for (const [account, replays] of this.recent) {
      for (const [id, at] of replays) if (Date.now() - at > LISTED_WITHIN_MS) replays.delete(id);
      if (replays.size === 0) this.recent.delete(account);
    }
    const known = this.recent.get(accountId) ?? new Map<string, number>();
    this.recent.set(accountId, known);
    return known;
  }
}
