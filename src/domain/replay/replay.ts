import type { Actor, Origin } from '../change/change.js';
import { isClosed, SHOWN_STATUSES, type ShownStatus } from '../delivery/delivery.js';
import type { MemberState } from '../delivery/group-summary.js';
import type { DeliveryFilter } from '../list/delivery-filter.js';

/** Action of a replay on each delivery: resend a closed one, or steer an open one. */
export const REPLAY_ACTIONS = ['resend', 'retry', 'cancel', 'resume'] as const;
export type ReplayAction = (typeof REPLAY_ACTIONS)[number];

/**
 * Which deliveries are sent again. `failed`: those that ended exhausted, expired or cancelled; `missed`: those, and
 * every event that the endpoint never had; `all`: everything closed.
 */
export const REPLAY_MODES = ['failed', 'missed', 'all'] as const;
export type ReplayMode = (typeof REPLAY_MODES)[number];

export const REPLAY_STATES = ['running', 'paused', 'finished', 'cancelled'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** Replays of an account that are running or paused, at most. */
export const MAX_OPEN_REPLAYS = 5;
/** Deliveries per second: unless a replay says otherwise, and at most. */
export const DEFAULT_REPLAY_RATE = 20;
export const MAX_REPLAY_RATE = 500;
/** The longest period of a replay, and the period before now that it covers unless it says otherwise, days. */
export const MAX_REPLAY_PERIOD_DAYS = 90;
export const DEFAULT_REPLAY_PERIOD_DAYS = 30;
/** Reasons of failed acts that are kept. */
export const MAX_REPLAY_FAILURES = 10;
/** Interventions of a replay that are recorded; after them it accepts only `cancel`. */
export const MAX_REPLAY_INTERVENTIONS = 100;

/** Filter by which a replay selects deliveries: that of a list of deliveries, in JSON. */
export interface ReplayFilter
  extends Omit<DeliveryFilter, 'statuses' | 'any_attempt' | 'created_after' | 'created_before'> {
  statuses?: ShownStatus[];
  /** ISO 8601, UTC. Of the event; the limits themselves are outside. */
  created_after: string;
  created_before: string;
}

/**
 * By which registration of the endpoint it is decided what it missed: as it is `now`, as it was when each event was
 * accepted (`then`), or as it was at a time. ISO 8601, UTC.
 */
export type Registration = 'now' | 'then' | (string & {});

/** Plan of a replay. It never changes. A Temporal payload: the {@link ReplayInput} has what it selects. */
export interface ReplayPlan {
  account_id: string;
  replay_id: string;
  action: ReplayAction;
  /** Mode of `resend`. */
  mode?: ReplayMode;
  /** Registration that `missed` compares with. */
  registration?: Registration;
  /** When it was asked for: what was started later is not touched. ISO 8601, UTC. */
  at: string;
  /** Deliveries per second, at most. */
  rate: number;
  /** Author of the replay; recorded with each of its actions. */
  actor: Actor;
}

/** Selection of a replay, and its reason. No history has it. */
export interface ReplayInput {
  filter: ReplayFilter;
  from: Omit<Origin, 'actor' | 'address'>;
}

/** Replay as it was asked for, as it is shown: without the values of business keys. */
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

/** Replay as it is kept in MongoDB. */
export interface KeptReplay {
  id: string;
  account_id: string;
  definition: ReplayDefinition;
  input: ReplayInput;
  /** Absent while it is open, and of one that was terminated in Temporal. */
  end?: ReplayEnd;
}

/** End of a replay. */
export interface ReplayEnd {
  progress: ReplayProgress;
  closed_at: string;
  run_id: string;
}

/** The selection of a replay is no longer kept: MongoDB was restored from a backup that is older than the replay. */
export class LostReplayError extends Error {
  override readonly name = 'LostReplayError';

  constructor(replayId: string) {
    super(`what ${replayId} selects is not kept any more`);
  }
}

/** A replay with what it selects. */
export type SelectingPlan = ReplayPlan & Pick<ReplayInput, 'filter'>;

/** One delivery that a replay acts on. */
export interface ReplayItem {
  event_id: string;
  endpoint_id: string;
  /**
   * The run that stands for it: of the delivery's own execution, or of a group. Empty for a new delivery.
   */
  run_id: string;
  /** The execution's id, unless it is the delivery's own. */
  workflow_id?: string;
  /** The endpoint never had the event. */
  is_new?: true;
}

/** Outcome of a replay for one delivery: `skipped` if its state had changed since it was selected. */
export type ReplayResult = { id: string } & (
  | { result: 'done' | 'skipped' }
  | { result: 'failed'; detail: string }
);

/** Something that an operator did to a replay. */
export interface ReplayIntervention {
  action: 'pause' | 'resume' | 'cancel';
  /** ISO 8601, UTC. */
  at: string;
  by: string;
}

/** How far a replay is. `found` is the sum of the other three and of what it is about to act on. */
export interface ReplayProgress {
  state: ReplayState;
  /** Deliveries that it has found so far. */
  found: number;
  done: number;
  /** Those to which nothing was done: somebody else had acted on them, or their endpoint is gone. */
  skipped: number;
  failed: number;
  /** The first failures, with what Temporal said. */
  failures?: { id: string; detail: string }[];
  /** Up to when events have been looked through. ISO 8601, UTC. */
  up_to?: string;
  interventions?: ReplayIntervention[];
}

export const NO_PROGRESS: ReplayProgress = { state: 'running', found: 0, done: 0, skipped: 0, failed: 0 };

const SELECTED: Record<Exclude<ReplayAction, 'resend'> | ReplayMode, readonly ShownStatus[]> = {
  failed: ['exhausted', 'expired', 'cancelled'],
  missed: ['exhausted', 'expired', 'cancelled', 'terminated'],
  all: SHOWN_STATUSES.filter(isClosed),
  retry: ['retrying', 'parked'],
  cancel: ['delivering', 'retrying', 'parked'],
  resume: ['parked'],
};

/** The statuses of deliveries that a replay acts on; none if its filter excludes all of them. */
export function selectedStatuses(
  { action, mode = 'failed' }: Pick<ReplayPlan, 'action' | 'mode'>,
  statuses: readonly ShownStatus[] = SHOWN_STATUSES,
): ShownStatus[] {
  const selected = SELECTED[action === 'resend' ? mode : action];
  return selected.filter((status) => statuses.includes(status));
}

/** Whether an open delivery accepts what a replay does: a paused one is resumed, and not retried. */
export function accepts(action: ReplayAction, { paused }: Pick<MemberState, 'paused'>): boolean {
  const isPaused = paused === true;
  if (action === 'resume') return isPaused;
  return action !== 'retry' || !isPaused;
}

/** Progress with what became of some deliveries. */
export function addResults(progress: ReplayProgress, results: readonly ReplayResult[]): ReplayProgress {
  const count = (name: ReplayResult['result']) => results.filter(({ result }) => result === name).length;
  const failures = [
    ...(progress.failures ?? []),
    ...results.flatMap((one) => (one.result === 'failed' ? [{ id: one.id, detail: one.detail }] : [])),
  ].slice(0, MAX_REPLAY_FAILURES);
  return {
    ...progress,
    done: progress.done + count('done'),
    skipped: progress.skipped + count('skipped'),
    failed: progress.failed + count('failed'),
    ...(failures.length > 0 && { failures }),
  };
}

/** Whether nothing more happens in a replay of that state. */
export function isOver(state: ReplayState): boolean {
  return state === 'finished' || state === 'cancelled';
}

/** Why a replay refuses what an operator asks for; `undefined` if it does not. */
export function replayRefusal(
  { state, interventions = [] }: ReplayProgress,
  action: ReplayIntervention['action'],
): string | undefined {
  if (isOver(state)) return `the replay is over: ${state}`;
  if (action === 'cancel') return undefined;
  if (interventions.length >= MAX_REPLAY_INTERVENTIONS)
    return `a replay takes at most ${MAX_REPLAY_INTERVENTIONS} interventions`;
  if (action === 'pause' && state === 'paused') return 'the replay is paused already';
  if (action === 'resume' && state !== 'paused') return 'the replay is not paused';
  return undefined;
}

/** A replay as a line for people. */
export function describeReplay(
  { action, mode, rate }: Pick<ReplayPlan, 'action' | 'mode' | 'rate'>,
  { state, found, done, skipped, failed }: ReplayProgress,
): string {
  const what = action === 'resend' ? `Resend (${mode})` : `${action[0]?.toUpperCase()}${action.slice(1)}`;
  const others = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return `${what}, ${state}: ${[`${done} of ${found} done`, ...others].join(', ')}; at most ${rate} a second.`;
}
