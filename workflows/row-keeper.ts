import { condition, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttemptOrder, MemberAttempt } from '../src/domain/delivery/attempt-order.js';
import type { GroupMachine, LiveGroup, Release } from '../src/domain/delivery/delivery-group.js';
import type { TimelineItem } from '../src/domain/explain/timeline.js';
import {
  type AttemptOrders,
  type OrderToTell,
  TURNS_OF_ATTEMPTS,
} from '../src/domain/records/row/attempt-orders.js';
import { type Told, type ToldRun, toldOf } from '../src/domain/records/told.js';
import { encodedBytes } from '../src/domain/text/encoded-bytes.js';
import { SHORT_STEP } from './short-step.js';

/** The most that one activity reports of deliveries, bytes: its input stands in the history. */
const MAX_TOLD_BYTES = 500_000;

/** A workflow task waits so long for rows to be kept; then an activity keeps on, for as long as it takes. */
const KEPT_WITHIN = '3s';

/**
 * Numbers of reports begin with the length of the history, and go on with the time at which the workflow task began,
 * which is less than this, milliseconds: a task that is lost may still run somewhere, and what it tells late has lower
 * numbers than what the task tells that was made in its place. Temporal gives a third one the history of the second.
 */
const TIMES_OF_TASKS = 1_000_000_000;

/** How an execution lets its rows be kept. */
interface KeeperSurroundings {
  /** Does something in a local activity. @param now when it counts as having ended */
  inTask(what: () => Promise<void>, now: number): Promise<void>;
  /** An activity has kept rows, or cannot. */
  onKept(error: unknown): void;
}

/** Has the rows of an execution's deliveries kept when something has happened to them. */
export class RowKeeper {
  /** Number of the latest report of this run. */
  private turns = 0;
  private readonly input: LiveGroup;
  private readonly machine: GroupMachine;
  private readonly surroundings: KeeperSurroundings;
  /** The records of deliveries as they were told of last, by index; '' before that. */
  private readonly kept: string[];
  /** Timeline entries of deliveries since then that their records do not contain. */
  private readonly said = new Map<number, TimelineItem[]>();
  /** Entries that were given to the activity of an attempt to report. */
  private readonly given = new Map<number, TimelineItem[]>();
  /** The execution was started without a workflow task; its starter has stored its rows. */
  private readonly isKeptFromStart: boolean;
  /** How often it was tried in a workflow task. */
  private tries = 0;
  /** An activity keeps what a workflow task could not. */
  private isKeeping = false;

  constructor(input: LiveGroup, machine: GroupMachine, surroundings: KeeperSurroundings) {
    this.input = input;
    this.machine = machine;
    this.surroundings = surroundings;
    this.kept = input.deliveries.map(() => '');
    this.isKeptFromStart = !input.so_far && !machine.sole && machine.firstAttempts.length === 0;
  }

  /** Deliveries were released, which their records do not say. */
  sayReleased(indexes: readonly number[], { probe, delivery }: Release, now: number): void {
    const at = new Date(now).toISOString();
    const item: TimelineItem = probe
      ? { at, type: 'probed', text: 'Chosen for a probe, to see whether its endpoint responds again.' }
      : {
          ...{ at, type: 'released' },
          text: delivery
            ? 'Released: nothing in front of it in its order holds it up any more.'
            : 'Released: its endpoint takes deliveries again, or was changed.',
        };
    for (const index of indexes) {
      if (this.isOfVersion1 && this.isKeptFromStart && this.kept[index] === '') this.isKept(index);
      this.say(index, [item]);
    }
  }

  private get isOfVersion1(): boolean {
    return (this.input.version ?? 0) >= 1;
  }

  private say(index: number, items: readonly TimelineItem[]): void {
    this.said.set(index, [...(this.said.get(index) ?? []), ...items]);
  }

  /** The row of a delivery says what its record says. */
  isKept(index: number): void {
    this.kept[index] = this.recordText(index);
  }

  /** Attempts have ended. @param isKept whether the row of its delivery says what was given with the order of one */
  ended(attempts: readonly MemberAttempt[], isKept: (attempt: MemberAttempt) => boolean): void {
    for (const attempt of attempts) {
      const { index } = attempt;
      const given = this.given.get(index);
      this.given.delete(index);
      if (given && !isKept(attempt)) this.say(index, given);
    }
  }

  get areAllKept(): boolean {
    return !this.isKeeping && this.untold.length === 0;
  }

  /** Resolves when the row of a delivery says what has happened, or cannot at the moment. */
  async untilTold(index: number): Promise<void> {
    const { tries } = this;
    await condition(() => this.isKeeping || this.tries > tries || !this.untold.includes(index));
  }

  /** Input of an activity that makes attempts and stores the rows of their deliveries. */
  ordersFor(attempts: readonly MemberAttempt[]): AttemptOrders {
    const { schedule, attempt_timeout_ms, park_limit_ms } = this.input;
    const turn = this.nextTurn();
    this.turns += TURNS_OF_ATTEMPTS - 1;
    return {
      run: this.run,
      turn,
      settings: { schedule, attempt_timeout_ms, park_limit_ms },
      seed: this.machine.seed,
      orders: this.machine.orders(attempts).map((order) => this.withSaid(order)),
      ...(this.isOfVersion1 && attempts.length > 1 && { in_columns: true as const }),
    };
  }

  private withSaid(order: AttemptOrder): OrderToTell {
    const { index } = order.attempt;
    const said = this.isOfVersion1 ? this.said.get(index) : undefined;
    if (!said) return order;
    this.said.delete(index);
    this.given.set(index, said);
    return { ...order, said };
  }

  /**
   * Has the rows of those kept to which something has happened: in this task, or, if that fails, by an activity.
   *
   * @param isBeforeAttempts those that were only released may be attempted now: that is told with their attempts
   */
  async keep(now: number, isBeforeAttempts = false): Promise<void> {
    if (this.isKeeping) return;
    const untold =
      isBeforeAttempts && this.isOfVersion1
        ? this.untold.filter((index) => this.kept[index] !== this.recordText(index))
        : this.untold;
    if (untold.length === 0) return;
    const told = this.tell(untold, now);
    const { keepRows } = proxyLocalActivities<Activities>({
      scheduleToCloseTimeout: KEPT_WITHIN,
      startToCloseTimeout: KEPT_WITHIN,
      retry: { maximumAttempts: 1 },
    });
    await this.surroundings.inTask(async () => {
      await keepRows(told).catch(() => this.keepOn(told));
    }, now);
    this.tries += 1;
  }

  /**
   * Deliveries that changed since their last report. The activity that makes an attempt reports deliveries in flight.
   */
  private get untold(): number[] {
    return this.kept.flatMap((kept, index) => {
      const isToBeTold = kept === '' || !this.machine.member(index)?.isAttempting;
      return isToBeTold && (kept !== this.recordText(index) || this.said.has(index)) ? [index] : [];
    });
  }

  private recordText(index: number): string {
    return JSON.stringify(this.machine.member(index)?.record);
  }

  /** Keeps rows for as long as it takes, while everything else goes on. */
  private keepOn(told: Told): void {
    const { keepRows } = proxyActivities<Activities>({
      startToCloseTimeout: SHORT_STEP,
      retry: { initialInterval: '1s', maximumInterval: '30s' },
      summary: 'keep rows',
    });
    this.isKeeping = true;
    const keepAll = async () => {
      for (const part of partsOf(told)) await keepRows(part);
    };
    const ended = (error?: unknown) => {
      this.isKeeping = false;
      this.surroundings.onKept(error);
    };
    keepAll().then(() => ended(), ended);
  }

  /** Deliveries as they are now, to be kept. They count as told of from now on. */
  private tell(indexes: readonly number[], now: number): Told {
    const turn = this.nextTurn();
    const deliveries = indexes.flatMap((index) => {
      const said = this.said.get(index);
      this.said.delete(index);
      this.isKept(index);
      const told = toldOf(this.input, this.machine, index);
      return told ? [{ ...told, ...(said && { said }) }] : [];
    });
    return { run: this.run, turn, at: new Date(now).toISOString(), deliveries };
  }

  private nextTurn(): number {
    const ofTask = workflowInfo().historyLength * TIMES_OF_TASKS + (Date.now() % TIMES_OF_TASKS);
    this.turns = Math.max(this.turns, ofTask) + 1;
    return this.turns;
  }

  /** This run, as rows name it. */
  private get run(): ToldRun {
    const { workflowId: workflow_id, runId: run_id, firstExecutionRunId } = workflowInfo();
    const { continuedFromExecutionRunId: continued } = workflowInfo();
    return {
      ...{ workflow_id, run_id, started_at: startedAt() },
      ...(!this.machine.sole && { in_group: true as const }),
      ...(this.input.so_far && { continues: true as const }),
      ...(continued !== undefined && { continued }),
      ...(firstExecutionRunId === run_id && { is_first: true as const }),
    };
  }
}

/** When an execution was started, whichever of its runs this is. ISO 8601, UTC. */
export function startedAt(): string {
  const known = workflowInfo().memo?.['created_at'];
  return typeof known === 'string' ? known : workflowInfo().startTime.toISOString();
}

/** Reports in parts that Temporal takes. */
function partsOf(told: Told): Told[] {
  const parts: Told[] = [];
  let bytes = 0;
  for (const delivery of told.deliveries) {
    const size = encodedBytes(delivery);
    const part = parts.at(-1);
    if (part && bytes + size <= MAX_TOLD_BYTES) {
      part.deliveries.push(delivery);
      bytes += size;
    } else {
      parts.push({ ...told, deliveries: [delivery] });
      bytes = size;
    }
  }
  return parts;
}
