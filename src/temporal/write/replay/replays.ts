import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { replayDeliveries } from '../../../../workflows/index.js';
import { REPLAY_UPDATES } from '../../../../workflows/messages.js';
import { present } from '../../../domain/basics/objects.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import {
  describeReplay,
  type KeptReplay,
  MAX_OPEN_REPLAYS,
  NO_PROGRESS,
  type ReplayEnd,
  type ReplayPlan,
  type ReplayProgress,
} from '../../../domain/replay/replay.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import { ReplayStateConflictError, TooManyReplaysError } from '../../errors.js';
import type { ReplayMemo, ReplayReader, ReplayView } from '../../read/replay/replay-reader.js';
import { sendUpdate } from '../send-update.js';

/** Where replays are kept. */
export interface ReplayStore {
  /** Does something while no process starts a replay of the account. */
  alone<T>(accountId: string, act: () => Promise<T>): Promise<T>;
  add(replay: KeptReplay): Promise<void>;
  /** Replays of an account whose end is not kept yet. */
  open(accountId: string): Promise<KeptReplay[]>;
  end(accountId: string, id: string, end: ReplayEnd): Promise<void>;
}

export interface ReplaysOptions {
  client: Client;
  taskQueue: string;
  reader: Pick<ReplayReader, 'view'>;
  store: ReplayStore;
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
  async start(
    plan: ReplayPlan,
    { definition, input }: Pick<KeptReplay, 'definition' | 'input'>,
  ): Promise<void> {
    const { client, taskQueue, store } = this.options;
    const { account_id, replay_id } = plan;
    const { endpoint_id } = input.filter;
    await store.alone(account_id, async () => {
      await this.refuseTooMany(account_id);
      // Before it is started, and kept if that fails: it may have been started all the same.
      await store.add({ id: replay_id, account_id, definition, input });
      await client.workflow.start<typeof replayDeliveries>('replayDeliveries', {
        workflowId: replayWorkflowId(account_id, replay_id),
        taskQueue,
        args: [{ plan, keeps_end: true }],
        memo: { progress: NO_PROGRESS } satisfies ReplayMemo,
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

  /** Counts those that are open. The ends of those that could not keep theirs are kept. */
  private async refuseTooMany(accountId: string): Promise<void> {
    const { reader, store } = this.options;
    const views = await Promise.all((await store.open(accountId)).map((replay) => reader.view(replay)));
    const over = views.filter(({ closed_at }) => closed_at !== undefined);
    await Promise.all(over.map((view) => store.end(accountId, view.id, endOf(view))));
    if (views.length - over.length >= MAX_OPEN_REPLAYS) throw new TooManyReplaysError(MAX_OPEN_REPLAYS);
  }
}

function endOf({
  state,
  found,
  done,
  skipped,
  failed,
  failures,
  up_to,
  interventions,
  ...view
}: ReplayView): ReplayEnd {
  return {
    progress: { state, found, done, skipped, failed, ...present({ failures, up_to, interventions }) },
    closed_at: view.closed_at ?? sharedDate().toISOString(),
    run_id: view.run_id,
  };
}
