import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  addResults,
  describeReplay,
  isOver,
  LostReplayError,
  NO_PROGRESS,
  type ReplayIntervention,
  type ReplayPlan,
  type ReplayProgress,
  replayRefusal,
} from '../src/domain/replay/replay.js';
import { continueWithMemo } from './continue-with-memo.js';
import { endCancelled } from './end-cancelled.js';
import type { ReplayDeliveriesInput, ReplaySoFar } from './inputs.js';
import { type Operator, operatorName, REPLAY_UPDATES, type ReplayUpdate } from './messages.js';

/**
 * Deliveries that one activity acts on: what the rate allows within about a second, so that a pause takes effect soon.
 */
const MAX_BATCH = 100;

const { findForReplay, actForReplay, endReplay } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: {
    initialInterval: '1s',
    maximumInterval: '30s',
    nonRetryableErrorTypes: [LostReplayError.name],
  },
});

/**
 * Acts on many deliveries: sends closed ones again, or retries, cancels or resumes open ones. It goes through the
 * ledger page by page, and keeps what a page holds until it has acted on it; so it goes on where it was, however it is
 * interrupted.
 */
export async function replayDeliveries(input: ReplayDeliveriesInput): Promise<ReplayProgress> {
  return new LiveReplay(input).run();
}

/** A replay in its workflow. */
class LiveReplay {
  private readonly input: Omit<ReplayDeliveriesInput, 'so_far'>;
  private readonly batchSize: number;
  private soFar: ReplaySoFar;

  constructor({ so_far = { progress: NO_PROGRESS, items: [] }, ...input }: ReplayDeliveriesInput) {
    this.input = input;
    this.batchSize = Math.min(this.plan.rate, MAX_BATCH);
    this.soFar = so_far;
    for (const action of ['pause', 'resume', 'cancel'] as const)
      setHandler<ReplayProgress, [Operator | undefined], ReplayUpdate>(
        REPLAY_UPDATES[action],
        (operator) => this.act(action, operatorName(operator)),
        { validator: () => this.refuse(action) },
      );
  }

  async run(): Promise<ReplayProgress> {
    try {
      while (await this.mayGoOn()) {
        if (workflowInfo().continueAsNewSuggested) await this.carryOn();
        if (this.soFar.items.length > 0) await this.actOnSome();
        else if (this.soFar.is_last) this.show({ state: 'finished' });
        else await this.findMore();
      }
    } catch (error) {
      if (!isCancellation(error)) throw error;
      if (!isOver(this.progress.state)) this.act('cancel', 'temporal');
    }
    if (this.input.keeps_end)
      await CancellationScope.nonCancellable(() => endReplay({ plan: this.plan, progress: this.progress }));
    return this.progress.state === 'finished' ? this.progress : endCancelled();
  }

  private get plan(): ReplayPlan {
    return this.input.plan;
  }

  private get progress(): ReplayProgress {
    return this.soFar.progress;
  }

  /** Waits while the replay is paused. @returns whether it is not over */
  private async mayGoOn(): Promise<boolean> {
    if (this.progress.state === 'paused') await condition(() => this.progress.state !== 'paused');
    if (CancellationScope.current().consideredCancelled && this.progress.state === 'running')
      this.act('cancel', 'temporal');
    return this.progress.state === 'running';
  }

  private async findMore(): Promise<void> {
    const { cursor } = this.soFar;
    const page = await findForReplay({ plan: this.plan, ...(cursor !== undefined && { cursor }) });
    const { progress } = this;
    this.soFar = {
      progress,
      items: page.items,
      ...(page.next === undefined ? { is_last: true } : { cursor: page.next }),
    };
    this.show({
      found: progress.found + page.items.length + page.gone,
      skipped: progress.skipped + page.gone,
      up_to: page.up_to,
    });
  }

  /** A batch that has begun is completed, even if the replay is cancelled meanwhile: its result counts. */
  private async actOnSome(): Promise<void> {
    const items = this.soFar.items.slice(0, this.batchSize);
    const results = await CancellationScope.nonCancellable(() =>
      actForReplay({ plan: this.plan, items, at: Date.now() }),
    );
    this.soFar.items = this.soFar.items.slice(items.length);
    this.show(addResults(this.progress, results));
  }

  private act(action: ReplayIntervention['action'], by: string): ReplayProgress {
    const { interventions = [] } = this.progress;
    const state = ({ pause: 'paused', resume: 'running', cancel: 'cancelled' } as const)[action];
    this.show({ state, interventions: [...interventions, { action, at: new Date().toISOString(), by }] });
    return this.progress;
  }

  private refuse(action: ReplayIntervention['action']): void {
    const detail = replayRefusal(this.progress, action);
    if (detail) throw ApplicationFailure.create({ type: 'refused', message: detail, nonRetryable: true });
  }

  /** Writes how far it is where lists and operators look. */
  private show(change: Partial<ReplayProgress>): void {
    this.soFar.progress = { ...this.progress, ...change };
    upsertMemo({ progress: this.progress });
    setCurrentDetails(describeReplay(this.plan, this.progress));
  }

  private async carryOn(): Promise<void> {
    await condition(allHandlersFinished);
    await continueWithMemo<typeof replayDeliveries>({ ...this.input, so_far: this.soFar });
  }
}
