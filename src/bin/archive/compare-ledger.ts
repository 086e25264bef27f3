import { WorkflowNotFoundError } from '@temporalio/client';
import { type ArchivedDelivery, type ArchivedEvent, closedAt } from '../../domain/archive/archived.js';
import { differencesOf, hasSamePayload } from '../../domain/archive/differences.js';
import { isRecordAltered } from '../../domain/archive/record-altered.js';
import type {
  ClosedExecution,
  DeliveryToArchive,
  EventToArchive,
  RunKey,
} from '../../domain/archive/to-archive.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { ClosedExecutionFinder } from '../../temporal/read/archive/closed-windows.js';
import type { Servers } from '../service/servers.js';
import type { Difference } from './difference.js';
import type { Held } from './held.js';

const WIDTH_MS = 3_600_000;
/**
 * Temporal lists an execution late: what closed so shortly before the archive's last run may be left to the next.
 * Milliseconds.
 */
const LISTED_LATE_MS = 60_000;
/** gRPC: what was asked for is not there. */
const NOT_FOUND = 5;

/** What was compared, as deliveries are counted. */
export interface LedgerCounts {
  compared: number;
  /** Of those, in groups that are still open. */
  inOpenGroups: number;
  /** Not compared, and why. */
  open: number;
  /** They closed after the time up to which the archive is, or so shortly before that it may not have seen them. */
  later: number;
  /** Temporal removed them meanwhile: they are past its retention. */
  removed: number;
}

/** A period of closing times, and up to when the archive is. */
export interface Period {
  start: Date;
  end: Date;
  upTo: Date;
  /** What closed later is still looked for a second time; absent: nothing is. */
  lookedAgainUpTo?: Date | undefined;
}

/**
 * Compares what Temporal has with the archive.
 *
 * @param counts are counted up
 * @param held takes what Temporal has
 */
export async function* compareLedger(
  finder: ClosedExecutionFinder,
  archive: Servers['database']['archive'],
  { start, end, upTo, lookedAgainUpTo }: Period,
  counts: LedgerCounts,
  held: Held,
): AsyncIterable<Difference> {
  const settled = new Date(upTo.getTime() - LISTED_LATE_MS);
  const before = new Date(Math.min(...[settled, end, lookedAgainUpTo ?? end].map(Number)));
  const compare = (execution: ClosedExecution, isOpen = false) =>
    readable(() => compareOne(execution, archive, before, isOpen), counts, execution);
  for await (const execution of closedBetween(finder, start, end)) {
    for (const { id } of execution.runs) held.add(id);
    const { compared, later, differences } = await compare(execution);
    counts.compared += compared;
    counts.later += later;
    yield* differences;
  }
  for await (const { runs } of closedBetween(finder, end, sharedDate())) {
    counts.later += runs.length;
    for (const { id } of runs) held.add(id);
  }
  for await (const { open, closed } of finder.running()) {
    counts.open += open;
    for (const { id } of closed.runs) held.add(id);
    if (closed.runs.length === 0) continue;
    const { compared, later, differences } = await compare(closed, true);
    counts.compared += compared;
    counts.inOpenGroups += compared;
    counts.later += later;
    yield* differences;
  }
}

async function* closedBetween(
  finder: ClosedExecutionFinder,
  from: Date,
  to: Date,
): AsyncIterable<ClosedExecution> {
  while (from < to) {
    const window = await finder.closedFrom(from, to, WIDTH_MS);
    yield* window.executions;
    from = window.to;
  }
}

interface Compared {
  compared: number;
  later: number;
  differences: Difference[];
}

/**
 * @param before what closed later need not be archived yet
 *
 * @param isOpen a group that goes on, whose deliveries have times of their own
 */
async function compareOne(
  execution: ClosedExecution,
  archive: Servers['database']['archive'],
  before: Date,
  isOpen: boolean,
): Promise<Compared> {
  const known = await archive.rows.known(execution.runs.map(({ id }) => id));
  const differences: Difference[] = [];
  const missing: RunKey[] = [];
  const wanted = new Set<string>();
  let later = 0;
  for (const run of execution.runs) {
    const { id, run_id, run_order } = run;
    const found = known.get(id);
    if (!found || (found.run_id !== run_id && found.run_order < run_order)) missing.push(run);
    if (!found || found.run_id === run_id || found.run_order < run_order) wanted.add(id);
  }
  const { deliveries, events } =
    wanted.size > 0 ? await execution.read(wanted) : { deliveries: [], events: [] };
  const timeOf = (run: RunKey) => {
    const { closed } = deliveries.find(({ id }) => id === run.id) ?? {};
    return isOpen && closed?.closed_at !== undefined ? new Date(closed.closed_at) : closedAt(run.position);
  };
  for (const run of missing) {
    const earlier = known.get(run.id);
    const what = earlier
      ? `is archived in an earlier run, ${earlier.run_id}, and not in ${run.run_id}`
      : 'is not in the archive';
    if (timeOf(run) >= before) later += 1;
    else differences.push({ id: run.id, what });
  }
  const isMissing = new Set(missing.map(({ id }) => id));
  for (const delivery of deliveries) {
    if (isMissing.has(delivery.id)) continue;
    const what = await deliveryDifference(delivery, archive);
    if (what) differences.push({ id: delivery.id, what });
  }
  const archivedEvents = new Set(
    deliveries.filter(({ id }) => !isMissing.has(id)).map(({ event_id }) => event_id),
  );
  for (const event of events) {
    if (execution.runs.length > 0 && !archivedEvents.has(event.id)) continue;
    const what = await wrongWith(async () =>
      eventDifference(event, await archive.event(event.account_id, event.id)),
    );
    if (what) differences.push({ id: event.id, what });
  }
  return { compared: execution.runs.length - later, later, differences };
}

async function wrongWith(compare: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await compare();
  } catch (error) {
    if (isRecordAltered(error)) return error.how;
    throw error;
  }
}

async function deliveryDifference(
  delivery: DeliveryToArchive,
  archive: Servers['database']['archive'],
): Promise<string | undefined> {
  const { archived, altered } = (await archive.stored(delivery.account_id, delivery.id)) ?? {};
  if (!archived) return 'is archived as that of another account';
  const differs = differing(delivery, archived);
  if (!altered) return differs;
  return differs ? `was altered, and ${differs}` : altered.how;
}

function differing(delivery: DeliveryToArchive, archived: ArchivedDelivery): string | undefined {
  try {
    const pointers = differencesOf(delivery, archived);
    return pointers.length > 0 ? `differs in ${pointers.join(', ')}` : undefined;
  } catch (error) {
    // Somebody who altered it may have left anything there.
    if (error instanceof SyntaxError || error instanceof TypeError) return 'cannot be read';
    throw error;
  }
}

/** A payload that is past its time is not in the archive any more, which is no difference. */
function eventDifference(event: EventToArchive, archived: ArchivedEvent | undefined): string | undefined {
  if (!archived) return 'is not in the archive';
  if (!archived.kept) return undefined;
  return hasSamePayload(event, archived) ? undefined : 'differs in its payload';
}

/** Compares what may be removed by Temporal's retention at this very moment. */
async function readable(
  compare: () => Promise<Compared>,
  counts: LedgerCounts,
  { runs }: ClosedExecution,
): Promise<Compared> {
  try {
    return await compare();
  } catch (error) {
    if (!isGone(error)) throw error;
    counts.removed += runs.length;
    return { compared: 0, later: 0, differences: [] };
  }
}

function isGone(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    (error instanceof Error && 'code' in error && error.code === NOT_FOUND)
  );
}
