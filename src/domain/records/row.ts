import { type DeliveryKey, deliveryId } from '../basics/delivery-id.js';
import { createdAt, idTime } from '../basics/id-time.js';
import { present } from '../basics/objects.js';
import {
  type DeliveryRecord,
  isClosed,
  isPaused,
  type ShownRecord,
  shownReason,
  shownRecord,
} from '../delivery/delivery.js';
import { changesOf, endOf, NOTHING_YET, type TimelineItem, timelineOf } from '../explain/timeline.js';
import { isGroup, parseFanOutWorkflowId } from '../ledger/workflow-ids.js';
import { sumsOf } from '../list/attempt-filter.js';
import { type AttemptView, type LastAttempt, lastOf, viewAttempt } from '../view/attempt-view.js';
import { type Delivery, earlierRun } from '../view/delivery-view.js';
import { firstThatFit, MAX_EARLIER_RUNS_BYTES, MAX_TIMELINE_BYTES } from './fitting.js';
import type { EventOfRow, RunSoFar, WholeDelivery } from './row/whole-delivery.js';
import { type DeliveryRow, positionOf } from './stored.js';
import type { KnownEnd, TerminatedExecution, ToldDelivery, ToldRun } from './told.js';

/** The API shows no more earlier runs than this. */
const MAX_EARLIER_RUNS = 10;

/** Relation of a reporting run to the row of a delivery. */
type Relation = 'goes_on' | 'later' | 'stale';

/**
 * Relation of a reporting run to the row of a delivery: it `goes_on`; it is a `later` one, so that the delivery was
 * sent again; or its report is `stale`. `unclear`: Temporal has to say which run of the execution is the latest
 * ({@link relationOfLatest}). No times are compared: they come from different clocks.
 */
export function relationOf(before: RunSoFar, run: ToldRun, turn: number): Relation | 'unclear' {
  if (run.run_id === before.run_id) return turn > before.turn ? 'goes_on' : 'stale';
  if (run.continued === before.run_id) return 'goes_on';
  const step = stageOf(run.workflow_id) - stageOf(before.workflow_id);
  if (step === 0 || before.workflow_id === '') return 'unclear';
  return step > 0 ? relationOfLatest(run) : 'stale';
}

/** Relation of the latest run to the row, which another run has written. */
export function relationOfLatest({ is_first, continues }: ToldRun): Relation {
  return is_first && !continues ? 'later' : 'goes_on';
}

/** Order of the executions that a delivery passes: it leaves a fan-out or a group, and does not return. */
function stageOf(workflowId: string): number {
  return parseFanOutWorkflowId(workflowId) ? 0 : isGroup(workflowId) ? 1 : 2;
}

/**
 * A delivery after what its execution tells.
 *
 * @param before as its row has it; absent: there is none
 * @param isLater the run is a later one than the row's
 * @param attempts of the told record, whole
 * @param at when it happened. ISO 8601, UTC
 */
export function deliveryAfter(
  before: WholeDelivery | undefined,
  event: EventOfRow,
  run: ToldRun,
  { event_id, endpoint_id, snapshot, said = [], max_attempts }: ToldDelivery,
  { attempts, at, isLater }: { attempts: AttemptView[]; at: string; isLater: boolean },
): WholeDelivery {
  const { record, ...progress } = snapshot;
  const { event_kind, sequence, payload_sha256, payload_bytes, payload_erased } = event;
  const { workflow_id, run_id, started_at } = run;
  const shown = { ...shownRecord(record), attempts };
  const { status, reason, next_attempt_at, interventions, cause, asked_to_wait } = shown;
  const earlier = isLater && before ? withRun(before.delivery) : before?.delivery.earlier_runs;
  const delivery: Delivery = {
    ...{ id: deliveryId({ event_id, endpoint_id }), event_id, endpoint_id, event_kind },
    ...(sequence !== undefined && { sequence }),
    status,
    ...{ created_at: createdAt(event_id), started_at, closed_at: endOf(shown) },
    next_attempt_at: isClosed(status) ? undefined : next_attempt_at,
    reason: shownReason(status, reason),
    ...{ workflow_id, run_id, payload_sha256, payload_bytes, payload_erased },
    ...{ attempts, interventions, cause, asked_to_wait },
    earlier_runs: earlier && earlier.length > 0 ? earlier : undefined,
  };
  const known = before && !isLater ? knownOf(before.delivery, shown) : NOTHING_YET;
  const last = attempts.at(-1);
  // The clock of a task stands still around its attempts, which may have waited for their turn before.
  const ended = last ? new Date(Date.parse(last.at) + last.duration_ms).toISOString() : at;
  const made = attempts[known.attempts.length]?.at;
  const items = [
    ...beginning(before, event, run, { record, isLater, until: made && made < at ? made : at }),
    ...toldUntil(unsaid(before, said, attempts.at(-1)?.at), made),
    ...changesOf(known, shown, ended > at ? ended : at),
  ];
  const end = items.findLast((item) => item.status !== undefined);
  if (end && delivery.closed_at !== undefined) end.at = delivery.closed_at;
  const [accepted, ...others] = [...toldUntil(before?.timeline ?? [], made), ...items];
  // Attempts are known when they end, and told when they began.
  others.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { delivery, timeline: accepted ? [accepted, ...others] : [], progress, max_attempts };
}

/**
 * Those of some entries that a timeline lacks. Whoever cannot know that an entry was kept tells it once more.
 *
 * @param attempted when the last attempt began, before which it may have been moved. ISO 8601, UTC
 */
export function unsaid(
  before: Pick<WholeDelivery, 'timeline'> | undefined,
  said: readonly TimelineItem[],
  attempted: string | undefined,
): TimelineItem[] {
  const known = before?.timeline ?? [];
  return said.filter(
    (item) =>
      !known.some(
        ({ at, type, text }) =>
          type === item.type && text === item.text && (at === item.at || (at === attempted && at < item.at)),
      ),
  );
}

/**
 * A timeline before an attempt. Entries before it have Temporal's time, and its beginning has MongoDB's.
 *
 * @param made when it began, ISO 8601, UTC; absent: there is none
 */
function toldUntil(timeline: readonly TimelineItem[], made: string | undefined): TimelineItem[] {
  return timeline.map((item) => {
    const isOwn = item.type === 'attempt' || item.action !== undefined;
    return made === undefined || isOwn || item.at <= made ? item : { ...item, at: made };
  });
}

/** Report of an execution that was terminated before it reported on a delivery. */
export function untold(event: EventOfRow, run: ToldRun, key: DeliveryKey): WholeDelivery {
  const record: DeliveryRecord = { status: 'delivering', attempts: [] };
  const state = { kind: 'closed' } as const;
  const told = { ...event, ...key, snapshot: { record, state, failed: 0 }, max_attempts: 0 };
  return deliveryAfter(undefined, event, run, told, { attempts: [], at: run.started_at, isLater: false });
}

/** A delivery whose execution was terminated while it was open. */
export function terminatedDelivery(
  { delivery, timeline }: WholeDelivery,
  { reason, intervention }: Pick<TerminatedExecution, 'reason' | 'intervention'>,
): WholeDelivery {
  const { at, by } = intervention;
  const interventions = [...(delivery.interventions ?? []), intervention];
  const closed = { status: 'terminated', closed_at: at, next_attempt_at: undefined } as const;
  return {
    delivery: { ...delivery, ...closed, reason, interventions, cause: undefined, asked_to_wait: undefined },
    timeline: [...timeline, { at, type: 'terminated', text: reason, status: 'terminated', by }],
  };
}

/** A delivery that has ended as Temporal knows. Its entries from after the copy of MongoDB was made are lost. */
export function endedDelivery(
  { delivery: before, timeline }: WholeDelivery,
  { run, status, at, reason, intervention }: KnownEnd,
): WholeDelivery {
  const { workflow_id, run_id } = run;
  const delivery = { ...before, workflow_id, run_id };
  if (intervention) return terminatedDelivery({ delivery, timeline }, { reason, intervention });
  const closed = { status, closed_at: at, next_attempt_at: undefined, reason: shownReason(status, reason) };
  return {
    delivery: { ...delivery, ...closed, cause: undefined, asked_to_wait: undefined },
    timeline: [...timeline, { at, type: 'closed', text: reason, status }],
  };
}

/** State that a row knows of its execution: what that has done since the point to which it was reset is new again. */
function knownOf(before: Delivery, { attempts, interventions = [] }: ShownRecord): ShownRecord {
  const acts = before.interventions?.filter(({ at }, index) => at === interventions[index]?.at);
  return present({
    ...before,
    attempts: before.attempts.filter(({ at }, index) => at === attempts[index]?.at),
    interventions: acts,
    reason: told(before),
  });
}

/** The reason of a delivery as its record has it. */
function told({ status, reason }: Delivery): string | undefined {
  return status === 'delivered' || reason === shownReason('delivering', undefined) ? undefined : reason;
}

function withRun(delivery: Delivery) {
  const { earlier_runs = [] } = delivery;
  const runs = [earlierRun(delivery, delivery), ...earlier_runs].slice(0, MAX_EARLIER_RUNS);
  return [...firstThatFit(runs, MAX_EARLIER_RUNS_BYTES)];
}

/**
 * Report on the beginning of a run that reports on a delivery for the first time.
 *
 * @param until when it had begun at the latest: clocks differ. ISO 8601, UTC
 */
function beginning(
  before: WholeDelivery | undefined,
  event: EventOfRow,
  { workflow_id, run_id, started_at, in_group, continues, is_first, continued }: ToldRun,
  { record, isLater, until }: { record: DeliveryRecord; isLater: boolean; until: string },
): TimelineItem[] {
  const execution = { workflow_id, run_id };
  if (!before || isLater) {
    const isResent = record.interventions?.[0]?.action === 'resend';
    const text = in_group
      ? // Not with how many: some may be another account's.
        'Started in a group with other deliveries.'
      : isResent
        ? 'Started again.'
        : 'Started as an execution of its own.';
    const at = started_at < until ? started_at : until;
    const started: TimelineItem = { at, type: 'started', text, ...execution };
    return before ? [started] : timelineOf(event, [{ started, before: NOTHING_YET, entries: [] }]);
  }
  if (before.delivery.run_id === run_id) return [];
  // A run after a reset has the time at which its first one began.
  const last = before.timeline.at(-1)?.at ?? until;
  const carriesOn = continues && (is_first || continued === before.delivery.run_id);
  const text = carriesOn
    ? `${in_group ? 'Its group' : 'It'} carried on in a new run.`
    : 'Its execution was reset in Temporal: it goes on from an earlier point in a new run.';
  return [{ at: until > last ? until : last, type: carriesOn ? 'started' : 'reset', text, ...execution }];
}

/** Name that tells an attempt from all others at a delivery, also from one of the same number before a reset. */
export function nameOfAttempt({ number, at }: { number: number; at: string }): string {
  return `${number} ${at}`;
}

/** Attempts of a told record, as far as they need not be opened: those that the row has are whole. */
export function attemptsKnown(
  before: WholeDelivery | undefined,
  record: DeliveryRecord,
): (AttemptView | undefined)[] {
  const known = new Map(before?.delivery.attempts.map((attempt) => [nameOfAttempt(attempt), attempt]));
  return record.attempts.map(
    (attempt) =>
      known.get(nameOfAttempt(attempt)) ??
      // Only what an execution had to keep for long is sealed.
      (attempt.sealed === undefined ? viewAttempt(attempt) : undefined),
  );
}

/** A delivery as it is stored, before it has a record. */
export type RowWithoutRecord = Omit<DeliveryRow, 'record' | 'revision' | 'turn'>;

/**
 * Facts that lists show of a delivery only if they are asked to, and that releases go by. Stored beside the summary.
 */
export interface RowFacts {
  last_attempt?: LastAttempt;
  /** Maximum number of attempts, while it is open. */
  max_attempts?: number;
  /** Somebody paused it. */
  paused?: true;
  /** It waits for another one in its order. */
  in_order?: true;
}

/** The texts and fields of a row. */
export function rowOf(
  { account_id, keys }: Pick<EventOfRow, 'account_id' | 'keys'>,
  { delivery, timeline, progress, max_attempts }: WholeDelivery,
): RowWithoutRecord {
  const { attempts, interventions, cause, asked_to_wait, earlier_runs, ...rest } = delivery;
  const { payload_sha256, payload_bytes, payload_erased, ...summary } = rest;
  const { id, event_id, endpoint_id, event_kind, status, run_id } = delivery;
  const payload = { payload_sha256, payload_bytes, payload_erased };
  const detail = { attempts, interventions, cause, asked_to_wait, earlier_runs, ...payload, progress };
  const newestFirst = firstThatFit([...timeline].reverse(), MAX_TIMELINE_BYTES);
  const last = attempts.at(-1);
  const facts: RowFacts = present({
    last_attempt: lastOf(attempts),
    max_attempts: isClosed(status) ? undefined : max_attempts,
    paused:
      isClosed(status) || !isPaused({ status, attempts, interventions } as DeliveryRecord) ? undefined : true,
    in_order: status === 'parked' && cause?.code === 'order' ? true : undefined,
  });
  return {
    ...{ id, account_id, event_id, endpoint_id, event_kind, status, keys, run_id },
    accepted_at: new Date(idTime(event_id)),
    error_code: last?.error_code,
    status_code: last?.status_code,
    ...sumsOf([...attempts, ...(earlier_runs ?? []).flatMap((run) => run.attempts)]),
    position: positionOf(delivery),
    summary: JSON.stringify({ ...summary, ...facts }),
    detail: JSON.stringify(detail),
    timeline: JSON.stringify([...newestFirst].reverse()),
  };
}
