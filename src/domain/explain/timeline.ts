import type { Attempt } from '../attempt/attempt.js';
import { describeAttempt } from '../attempt/outcome.js';
import { createdAt } from '../basics/id-time.js';
import { present } from '../basics/objects.js';
import { type Intervention, isClosed, type ShownRecord, type ShownStatus } from '../delivery/delivery.js';
import { plain } from '../text/plain.js';

/** Kinds of entries in a delivery's timeline. Part of the HTTP interface. */
export const TIMELINE_TYPES = [
  'accepted',
  'started',
  'attempt',
  'wait',
  'parked',
  'incident',
  'released',
  'probed',
  'act',
  'reset',
  'closed',
  'terminated',
] as const;

/**
 * One thing that happened to a delivery, human-readable, with the facts of an attempt, or of an act, a termination or a
 * reset.
 */
export interface TimelineItem
  extends Partial<Pick<Attempt, 'number' | 'trigger' | 'duration_ms' | 'url' | 'status_code' | 'error_code'>>,
    Partial<Pick<Intervention, 'action' | 'by' | 'replay'>> {
  /** ISO 8601, UTC. Of an attempt: when it began. */
  at: string;
  type: (typeof TIMELINE_TYPES)[number];
  text: string;
  /** Set for `started`. */
  workflow_id?: string;
  run_id?: string;
  /** End of a wait. ISO 8601, UTC. */
  next_attempt_at?: string;
  /** How it ended. */
  status?: ShownStatus;
}

/** Entries of a run of a delivery: records as they followed each other, and what stands beside them. In order. */
export type RunEntry = { at: string; record: ShownRecord } | { item: TimelineItem };

/** A run of a delivery, or the part of a group's run that is about it. */
export interface RunAccount {
  started: TimelineItem;
  /** State of the delivery when the run began. */
  before: ShownRecord;
  entries: RunEntry[];
}

/** A delivery about which nothing is recorded yet. */
export const NOTHING_YET: ShownRecord = { status: 'delivering', attempts: [] };

const BECAUSE: Record<Attempt['trigger'], string> = {
  schedule: '',
  retry_after: ' (when its Retry-After asked for it)',
  manual: ' (on request)',
  released: ' (released)',
  probe: ' (a probe of its endpoint)',
};

const ACTS: Record<Intervention['action'], string> = {
  retry: 'An attempt was asked for',
  cancel: 'Cancelled',
  pause: 'Paused',
  resume: 'Resumed',
  resend: 'Sent again',
  replay: 'Sent for the first time',
  terminate: 'Terminated in Temporal',
};

/**
 * The account of a delivery over all its runs, in order.
 *
 * @param runs the oldest first
 * @param closedAt when the delivery closed, as every view of it says. ISO 8601, UTC
 * @param others what happened beside the runs, such as incidents of the endpoint
 */
export function timelineOf(
  event: { event_id: string; event_kind: string; payload_bytes: number },
  runs: readonly RunAccount[],
  { closedAt, others = [] }: { closedAt?: string | undefined; others?: readonly TimelineItem[] } = {},
): TimelineItem[] {
  const accepted: TimelineItem = {
    at: createdAt(event.event_id),
    type: 'accepted',
    text: `Accepted: a ${event.event_kind} of ${event.payload_bytes} bytes, as ${event.event_id}.`,
  };
  const items = runs.flatMap(({ started, before, entries }) => {
    let known = before;
    const ofRun = entries.flatMap((entry) => {
      if ('item' in entry) return [entry.item];
      const changes = changesOf(known, entry.record, entry.at);
      known = entry.record;
      return changes;
    });
    return [started, ...ofRun];
  });
  const end = items.findLast(({ status }) => status !== undefined);
  if (end && closedAt !== undefined) end.at = closedAt;
  // Attempts are known when they end, and told when they began.
  return [accepted, ...[...items, ...others].sort((a, b) => compare(a.at, b.at))];
}

/** Changes between two records of a delivery that follow each other. @param at when the second one was written */
export function changesOf(before: ShownRecord, after: ShownRecord, at: string): TimelineItem[] {
  const acts = (after.interventions ?? []).slice(before.interventions?.length ?? 0);
  const made = after.attempts.slice(before.attempts.length);
  const isSame =
    made.length === 0 &&
    before.status === after.status &&
    before.reason === after.reason &&
    before.next_attempt_at === after.next_attempt_at;
  return [
    ...acts.filter(({ action }) => action !== 'terminate').map(tellAct),
    ...made.map(tellAttempt),
    ...(isSame ? [] : tellState(after, at, acts)),
  ];
}

function tellAct({ action, at, by, replay }: Intervention): TimelineItem {
  const through = replay === undefined ? '' : `, through the replay ${replay}`;
  return present({ at, type: 'act', text: `${ACTS[action]} by ${by}${through}.`, action, by, replay });
}

function tellAttempt(attempt: Attempt): TimelineItem {
  const { number, at, trigger, duration_ms, url, status_code, error_code, lost_tries } = attempt;
  const lost = lost_tries === undefined ? '' : ` An earlier try of it was lost, and may have arrived, too.`;
  const text = `Attempt ${number}${BECAUSE[trigger]} ${describeAttempt(attempt)}, after ${duration_ms} ms.${lost}`;
  return present({ at, type: 'attempt', text, number, trigger, duration_ms, url, status_code, error_code });
}

/** Final state of a delivery, unless an action that is told has said it. */
function tellState(record: ShownRecord, at: string, acts: readonly Intervention[]): TimelineItem[] {
  const { status, next_attempt_at, cause, reason = '' } = record;
  if (status === 'terminated')
    return [present({ at, type: 'terminated', text: reason, status, by: acts.at(-1)?.by })];
  if (isClosed(status)) return [{ at: endOf(record) ?? at, type: 'closed', text: tellEnd(record), status }];
  if (next_attempt_at !== undefined) return [{ at, type: 'wait', text: reason, next_attempt_at }];
  if (acts.at(-1)?.action === 'pause') return [];
  if (status !== 'parked') return [];
  const isFailing = cause?.code === 'endpoint' && cause.status === 'failing';
  return [{ at, type: isFailing ? 'incident' : 'parked', text: reason }];
}

function tellEnd({ status, cause, reason = '' }: ShownRecord): string {
  const ended = `${status[0]?.toUpperCase()}${status.slice(1)}`;
  return status === 'delivered' || cause?.code === 'cancelled' || reason === ''
    ? `${ended}.`
    : `${ended}: ${reason}`;
}

/**
 * When a delivery ended: as its record says, by Temporal's clock, and not before its last attempt, by MongoDB's.
 * ISO 8601, UTC.
 */
export function endOf({ status, attempts, closed_at }: ShownRecord): string | undefined {
  if (!isClosed(status)) return undefined;
  const last = attempts.at(-1);
  const ended = last && new Date(Date.parse(last.at) + last.duration_ms).toISOString();
  return ended === undefined || (closed_at ?? '') > ended ? closed_at : ended;
}

/** A timeline as lines for a terminal. */
export function timelineText(items: readonly TimelineItem[]): string {
  const width = Math.max(...items.map(({ type }) => type.length));
  return items.map(({ at, type, text }) => `${at}  ${type.padEnd(width)}  ${plain(text)}\n`).join('');
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
