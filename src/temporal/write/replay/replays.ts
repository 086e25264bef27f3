import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { replayDeliveries } from '../../../../workflows/index.js';
import { REPLAY_UPDATES } from '../../../../workflows/messages.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import {
  describeReplay,
  MAX_OPEN_REPLAYS,
  NO_PROGRESS,
  type ReplayInput,
  type ReplayInputs,
  type ReplayPlan,
  type ReplayProgress,
} from '../../../domain/replay/replay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { ReplayStateConflictError, TooManyReplaysError } from '../../errors.js';
import type { ReplayMemo, ReplayReader } from '../../read/replay/replay-reader.js';
import { sendUpdate } from '../send-update.js';

/**
 * Memory, shared by all processes, of the replays that were started of late: visibility lists one a moment after it was
 * started.
 */
export interface StartedReplays {
  /** Does something while no process starts a replay of the account. */
  alone<T>(accountId: string, act: () => Promise<T>): Promise<T>;
  of(accountId: string): Promise<{ id: string; at: Date }[]>;
  add(accountId: string, replayId: string): Promise<void>;
  /** Forgets some. */
  remove(replayIds: readonly string[]): Promise<void>;
}

/** A start whose call has failed can take effect for so long, milliseconds. */
const ON_ITS_WAY_MS = 10_000;

export interface ReplaysOptions {
  client: Client;
  taskQueue: string;
  reader: ReplayReader;
  started: StartedReplays;
  inputs: Pick<ReplayInputs, 'keep'>;
}

/** Starts and steers replays. */
export class Replays {
  private readonly options: ReplaysOptions;

  constructor(options: ReplaysOptions) {
    this.options = options;
  }

  /**
   * Starts a replay. Resolves once Temporal has persisted it.
   *
   * @throws TooManyReplaysError if the account has {@link MAX_OPEN_REPLAYS} that are not over, whichever processes have
   * started them
   */
  async start(plan: ReplayPlan, input: ReplayInput, shown: ReplayMemo['replay']): Promise<void> {
    const { client, taskQueue, started, inputs } = this.options;
    const { account_id, replay_id } = plan;
    const { endpoint_id } = input.filter;
    await started.alone(account_id, async () => {
      await this.refuseTooMany(account_id);
      // Before it is started, and kept if that fails: it may have been started all the same.
      await started.add(account_id, replay_id);
      await inputs.keep(replay_id, input);
      await client.workflow.start<typeof replayDeliveries>('replayDeliveries', {
        workflowId: replayWorkflowId(account_id, replay_id),
        taskQueue,
        args: [{ plan }],
        memo: { replay: shown, progress: NO_PROGRESS } satisfies ReplayMemo,
        staticSummary: describeReplay(plan, NO_PROGRESS).split(',')[0] ?? '',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ACCOUNT_ATTRIBUTE, value: [account_id] },
          ...(endpoint_id ? [{ key: ENDPOINT_ATTRIBUTE, value: [endpoint_id] }] : []),
        ]),
      });
    });
  }

  /**
   * Pauses, resumes or cancels a replay, and waits for its answer.
   *
   * @param name of the act, under which it is found again; absent: nobody looks for it
   * @returns its progress; `undefined` if the account has no such replay that is not over
   * @throws ReplayStateConflictError if its state does not allow it, NoWorkerError if no worker answers
   */
  async act(
    action: keyof typeof REPLAY_UPDATES,
    accountId: string,
    replayId: string,
    by: string,
    name?: string,
  ): Promise<ReplayProgress | undefined> {
    const refused = (message: string) => new ReplayStateConflictError(message);
    const workflowId = replayWorkflowId(accountId, replayId);
    const options = { refused, updateId: name };
    return sendUpdate(this.options.client, workflowId, REPLAY_UPDATES[action], { by }, options);
  }

  /** Counts those that visibility lists as open, and those that it may not list yet. */
  private async refuseTooMany(accountId: string): Promise<void> {
    const { reader, started } = this.options;
    // In this order: one that is listed late is remembered still.
    const lately = await started.of(accountId);
    const listed = new Set(await reader.openIds(accountId, MAX_OPEN_REPLAYS + 1));
    const over: string[] = [];
    let open = listed.size;
    await Promise.all(
      lately
        .filter(({ id }) => !listed.has(id))
        .map(async ({ id, at }) => {
          const replay = await reader.get(accountId, id);
          const isOpen = replay ? replay.closed_at === undefined : at.getTime() > sharedNow() - ON_ITS_WAY_MS;
          if (isOpen) open += 1;
          else over.push(id);
        }),
    );
    await started.remove(over);
    if (open >= MAX_OPEN_REPLAYS) throw new TooManyReplaysError(MAX_OPEN_REPLAYS);
  }
}
