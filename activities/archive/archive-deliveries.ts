import { Context } from '@temporalio/activity';
import pLimit from 'p-limit';
import { committedRecord } from '../../src/domain/archive/commitments.js';
import {
  type ArchiveWrites,
  type ClosedExecution,
  type ClosedExecutions,
  type DeliveryToArchive,
  type DeliveryToKeep,
  type KeptRun,
  LOOKED_AT_AGAIN_MS,
  type RunKey,
} from '../../src/domain/archive/to-archive.js';
import { inParts, together } from '../../src/domain/basics/bounded-memory.js';
import { sharedDate, sharedNow, temporalClock } from '../../src/domain/time/shared-time.js';
import type { Timings } from '../../src/domain/timings.js';
import type { ActivityDependencies } from '../ports.js';
import { whileBeating } from '../while-beating.js';
import { createEndTeller } from './tell-ends.js';
import { whileSigning } from './while-signing.js';

/** Executions that are read at once. */
const READS_AT_ONCE = 4;
/** Executions whose deliveries are kept together, in one segment. */
const KEPT_AT_ONCE = 20;
/** A part of a run ends after this, even if more is to be archived. Milliseconds. */
const PART_TIME_MS = 20_000;
const FIRST_WIDTH_MS = 60_000;
const MAX_WIDTH_MS = 24 * 3_600_000;
/** Windows grow while they hold fewer executions than this. */
const FEW = 50;

/** What archiving a delivery writes. */
interface Writes {
  archive: ArchiveWrites;
  teller: Pick<ReturnType<typeof createEndTeller>, 'note'>;
}

/** What a part of an archive run has done. */
export interface ArchivePart {
  /** Deliveries that were archived, or of which a later run was. */
  archived: number;
  /** Executions that closed before this are archived. ISO 8601, UTC. */
  up_to: string;
  /** Nothing is left but what has just closed. */
  is_last: boolean;
  /** The signed note of the last checkpoint that was signed meanwhile. */
  checkpoint?: string;
}

/** Where an archive run begins. A Temporal payload. */
export interface ArchiveRequest {
  /** How far back the first run looks: Temporal keeps nothing longer. Milliseconds. */
  reach_ms: number;
  /**
   * What closed later than this before now is left to the next run, milliseconds; absent: as {@link Timings} have it.
   */
  settled_after_ms?: number;
  /** The signed note of the last checkpoint, as far as Temporal knows. */
  checkpoint?: string;
}

/**
 * Archives what has closed, from where the last run ended. Repeated after a crash, it goes on from what was archived.
 */
export function createArchiveClosed({
  archive,
  closed,
  log,
  timings,
  ...others
}: Pick<ActivityDependencies, 'archive' | 'closed' | 'log' | 'timings' | 'endpoints' | 'ledger' | 'ends'>) {
  const teller = createEndTeller(others);
  const writes = { archive, teller };

  return function archiveClosed(request: ArchiveRequest): Promise<ArchivePart> {
    return whileBeating(() => whileSigning(log, request.checkpoint, () => archivePart(request)));
  };

  async function archivePart(request: ArchiveRequest): Promise<ArchivePart> {
    const deadline = sharedNow() + PART_TIME_MS;
    // Closing times are Temporal's, and so is how far the archive is: never later than Temporal's clock.
    const now = Math.min(temporalClock.now(), sharedNow());
    const end = new Date(now - (request.settled_after_ms ?? timings.archive_settles_ms));
    const upTo = await archive.upTo();
    // What an interrupted run has kept, Temporal may not have any more, so that no window will show it.
    if (upTo && upTo.getTime() < sharedNow() - request.reach_ms) await archive.rows.adoptAll();
    const from = new Date(upTo ? upTo.getTime() - LOOKED_AT_AGAIN_MS : end.getTime() - request.reach_ms);
    const width = upTo ? end.getTime() - from.getTime() : FIRST_WIDTH_MS;
    const first = await archiveWindows({ from, end, width, deadline }, (to) => archive.advance(to));
    let { archived, isDone: is_last } = first;
    if (is_last) {
      const second = await lookAgain(first.to, deadline);
      archived += second.archived;
      is_last = second.isDone;
    }
    if (is_last) archived += await archiveOpenGroups(writes, closed);
    await teller.tell();
    return { archived, up_to: first.to.toISOString(), is_last };
  }

  /**
   * Looks once more, some time after the first look, for what closed in a period: visibility that had fallen behind
   * lists it now.
   *
   * @param upTo how far the first look is
   */
  async function lookAgain(upTo: Date, deadline: number) {
    const now = sharedDate();
    const look = await archive.secondLook();
    if (!look) await archive.setSecondLook({ from: upTo, to: upTo, at: now });
    if (!look || now.getTime() < look.at.getTime() + timings.archive_second_look_ms)
      return { archived: 0, isDone: true };
    const { from, to: end } = look;
    const part = { from, end, width: end.getTime() - from.getTime(), deadline };
    const { archived, isDone } = await archiveWindows(part, (to) =>
      archive.setSecondLook({ ...look, from: to }),
    );
    if (isDone) await archive.setSecondLook({ from: end, to: upTo, at: now });
    return { archived, isDone };
  }

  /**
   * Archives what closed from one time until before another, window by window: one at least, and more until a deadline.
   */
  async function archiveWindows(
    { from, end, width: firstWidth, deadline }: { from: Date; end: Date; width: number; deadline: number },
    advance: (to: Date) => Promise<void>,
  ): Promise<{ archived: number; to: Date; isDone: boolean }> {
    const { cancellationSignal } = Context.current();
    let to = from;
    let width = Math.max(firstWidth, 1);
    let archived = 0;
    while (to < end && (to === from || sharedNow() < deadline)) {
      cancellationSignal.throwIfAborted();
      const window = await closed.closedFrom(to, end, Math.min(width, MAX_WIDTH_MS));
      archived += await archiveExecutions(writes, window.executions);
      await advance(window.to);
      width = window.to.getTime() - window.from.getTime();
      if (window.executions.length < FEW) width *= 4;
      to = window.to;
    }
    return { archived, to, isDone: to >= end };
  }
}

/** Removes what is past its time from the archive. */
export function createSweepArchive({ archive }: Pick<ActivityDependencies, 'archive'>) {
  return function sweepArchive(): Promise<{ payloads: number }> {
    return whileBeating(async () => ({ payloads: await archive.removePayloads() }));
  };
}

/** Deliveries that have closed in groups that are still open. */
async function archiveOpenGroups(writes: Writes, closed: ClosedExecutions) {
  let archived = 0;
  for await (const some of together(closed.openGroups(), FEW))
    archived += await archiveExecutions(writes, some);
  return archived;
}

/** Archives what is not archived of some executions. @returns how many deliveries */
export async function archiveExecutions(
  writes: Writes,
  executions: readonly ClosedExecution[],
): Promise<number> {
  const { first, later } = apart(executions);
  let archived = 0;
  for (const some of inParts(first, KEPT_AT_ONCE)) archived += await archiveTogether(writes, some);
  return later.length === 0 ? archived : archived + (await archiveExecutions(writes, later));
}

/**
 * Keeps runs of one delivery apart, the earliest first: a later one takes the place of what is archived by then, and
 * side by side either could be the one that stays.
 */
function apart(executions: readonly ClosedExecution[]): Record<'first' | 'later', ClosedExecution[]> {
  const begun = ({ runs }: ClosedExecution) => runs.map(({ run_order }) => run_order).sort()[0] ?? '';
  const parts = { first: [] as ClosedExecution[], later: [] as ClosedExecution[] };
  const seen = new Set<string>();
  for (const execution of [...executions].sort((a, b) => (begun(a) < begun(b) ? -1 : 1))) {
    const ids = execution.runs.map(({ id }) => id);
    parts[ids.some((id) => seen.has(id)) ? 'later' : 'first'].push(execution);
    for (const id of ids) seen.add(id);
  }
  return parts;
}

/** @param executions with one run of each delivery */
async function archiveTogether(writes: Writes, executions: readonly ClosedExecution[]): Promise<number> {
  const { archive } = writes;
  const { rows } = archive;
  const ids = executions.flatMap(({ runs }) => runs.map(({ id }) => id));
  let known = await rows.known(ids);
  // A run that was interrupted may have left some without a segment.
  if (await rows.adopt([...known.values()])) known = await rows.known(ids);
  const isNew = ({ id, run_order }: RunKey) => run_order > (known.get(id)?.run_order ?? '');
  const wanted = executions.map(({ runs }) => new Set(runs.filter(isNew).map(({ id }) => id)));
  const moved = executions
    .flatMap(({ runs }) => runs)
    .filter(({ id, run_id, position }) => {
      const before = known.get(id);
      return before?.run_id === run_id && before.position !== position;
    });
  const limit = pLimit(READS_AT_ONCE);
  const kept = await Promise.all(
    executions.map((execution, at) =>
      limit(async () => {
        const ids = wanted[at] ?? new Set();
        return ids.size > 0 ? archiveOne(writes, execution, ids, known) : [];
      }),
    ),
  );
  await rows.keep(kept.flat());
  await rows.move(moved);
  return kept.flat().length;
}

async function archiveOne(
  { archive, teller }: Writes,
  execution: ClosedExecution,
  ids: ReadonlySet<string>,
  known: ReadonlyMap<string, KeptRun>,
): Promise<DeliveryToKeep[]> {
  const { deliveries, events } = await execution.read(ids);
  await teller.note(deliveries);
  const sealed = await archive.keepEvents(events);
  const toKeep = async (delivery: DeliveryToArchive): Promise<DeliveryToKeep> => {
    const { closed: _, ...archived } = delivery;
    const before = known.get(delivery.id);
    const revision = (before?.revision ?? 0) + 1;
    const { commitment, key = '' } = sealed.get(delivery.event_id) ?? {};
    const event = { accountId: delivery.account_id, eventId: delivery.event_id };
    const salts = await archive.saltsOf(event, key, { id: delivery.id, revision });
    const record = committedRecord(delivery.account_id, delivery, revision, commitment, salts);
    return { delivery: { ...archived, revision, record, key }, before };
  };
  return Promise.all(deliveries.map(toKeep));
}
