import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { type DeliveryKey, parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { UNITS } from '../../../domain/basics/duration.js';
import type { Change, ChangeAction, ChangeOutcome } from '../../../domain/change/change.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { unlessGone } from '../../errors.js';
import type { DeliveryReader } from '../delivery-reader.js';
import { ACT_MEMO, previousRun, REPLAY_MEMO } from '../earlier-runs.js';
import type { HistoryEvent, Run } from '../history.js';
import { describeExecution, type Execution } from '../visibility/visibility.js';

/**
 * Temporal keeps closed executions for a day at least: what an act has done is found for so long. An hour is for
 * clocks. Milliseconds.
 */
const FOUND_FOR_MS = 23 * UNITS.h;
/** Runs of one delivery, or of one replay, that are looked at. */
const MAX_RUNS = 20;

/** Acts that start an execution; the others are updates of one. */
const STARTS = new Set<ChangeAction>(['resent', 'replayed']);

/**
 * Finds out from Temporal how an act ended that was recorded before it was done. Each act has a name there, the id of
 * its change, or of the replay that did it: the id of an update, or a memo of the run that it started.
 */
export class ActOutcomes {
  private readonly client: Client;
  private readonly deliveries: Pick<DeliveryReader, 'execution'>;
  /** Replays of which it is remembered for a moment whether they run: hundreds of acts are of one. */
  private readonly running = new LRUCache<string, Promise<boolean>>({ max: 1_000, ttl: 1_000 });

  constructor(client: Client, deliveries: Pick<DeliveryReader, 'execution'>) {
    this.client = client;
    this.deliveries = deliveries;
  }

  /**
   * How an act ended.
   *
   * @param change its author does it no more
   * @returns `undefined` if a replay may still do it
   */
  async of(accountId: string, change: Change): Promise<ChangeOutcome | undefined> {
    if (change.replay !== undefined && (await this.isRunning(accountId, change.replay))) return undefined;
    const [kind, id = ''] = change.resource.split(':');
    const found =
      kind === 'replay'
        ? await this.ofReplay(accountId, id, change)
        : await this.ofDelivery(accountId, id, change);
    if (found) return found;
    return Date.parse(change.at) > sharedNow() - FOUND_FOR_MS ? 'refused' : 'unknown';
  }

  private async ofReplay(accountId: string, id: string, change: Change): Promise<ChangeOutcome | undefined> {
    const newest = await describeExecution(this.client, replayWorkflowId(accountId, id));
    if (!newest) return undefined;
    if (change.action === 'created') return 'done';
    return this.ofUpdate(newest, change.id);
  }

  private async ofDelivery(
    accountId: string,
    id: string,
    change: Change,
  ): Promise<ChangeOutcome | undefined> {
    const key = parseDeliveryId(id);
    const name = change.replay ?? change.id;
    if (!key) return undefined;
    for await (const run of this.runsOf(accountId, key)) {
      if (STARTS.has(change.action)) {
        const { [ACT_MEMO]: act, [REPLAY_MEMO]: replay } = run.memo ?? {};
        if (act === name || replay === name) return 'done';
      } else {
        const outcome = await this.ofUpdate(run, actUpdateId(name, id));
        if (outcome) return outcome;
      }
    }
    return undefined;
  }

  /** The executions that stand or stood for a delivery, as far as Temporal has them, newest first. */
  private async *runsOf(accountId: string, key: DeliveryKey): AsyncIterable<Execution> {
    let run = await this.deliveries.execution(accountId, key);
    for (let runs = 0; run && runs < MAX_RUNS; runs += 1) {
      yield run;
      const previous = previousRun(run);
      run = previous && (await describeExecution(this.client, previous.workflow_id, previous.run_id));
    }
  }

  private isRunning(accountId: string, replayId: string): Promise<boolean> {
    const id = replayWorkflowId(accountId, replayId);
    return madeOnce(this.running, id, async () => {
      const replay = await describeExecution(this.client, id);
      return replay?.status.name === 'RUNNING';
    });
  }

  /** How an update of an execution ended, in a run or in those that it continues. @param name its id */
  private async ofUpdate({ workflowId, runId }: Run, name: string): Promise<ChangeOutcome | undefined> {
    for (let next: string | undefined = runId, runs = 0; next && runs < MAX_RUNS; runs += 1) {
      const { outcome, continues }: ToldOutcome = await this.toldOf({ workflowId, runId: next }, name);
      if (outcome) return outcome;
      next = continues;
    }
    return undefined;
  }

  /** Outcome of an update by the history of a run. @param name its id */
  private async toldOf({ workflowId, runId }: Run, name: string): Promise<ToldOutcome> {
    const history = await unlessGone(this.client.workflow.getHandle(workflowId, runId).fetchHistory());
    return toldIn(history?.events ?? [], name);
  }
}

/** Content of a history. */
interface ToldOutcome {
  outcome?: ChangeOutcome;
  /** The run before, which this one continues. */
  continues?: string;
}

/** One that was refused before it was accepted stands in no history. One that was accepted can have failed. */
function toldIn(events: readonly HistoryEvent[], name: string): ToldOutcome {
  let outcome: ChangeOutcome | undefined;
  for (const event of events) {
    if (event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.updateId === name)
      outcome ??= 'done';
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    if (completed?.meta?.updateId === name) outcome = completed.outcome?.failure ? 'refused' : 'done';
  }
  const continues = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  return { ...(outcome && { outcome }), ...(continues && { continues }) };
}

/**
 * The id of the update that does an act to a delivery: done once, and found again under it.
 *
 * @param name of the act: the id of its change, or of the replay that does it to many deliveries, also of one group
 */
export function actUpdateId(name: string, deliveryId: string): string {
  return `${name} ${deliveryId}`;
}
