import { z } from 'zod';
import { POSITION, type Range } from '../../../domain/archive/archived.js';
import { decodeCursor, encodeCursor } from '../visibility/cursor.js';
import type { ExpandedPage } from '../visibility/expanded-list.js';
import type { Page } from '../visibility/visibility.js';

/** A row of one of the lists. */
export interface PlacedRow<T> {
  id: string;
  value: T;
  /** Where both lists have it; absent while it is open: such rows come first, and the archive has none. */
  position: string | undefined;
}

/**
 * The ids of those deliveries that stand for their events in a list of events: of several of an event the one to the
 * oldest endpoint.
 */
export function firstOfEach(deliveries: readonly { id: string; event_id: string }[]): Set<string> {
  const first = new Map<string, string>();
  for (const { id, event_id } of deliveries) if (id < (first.get(event_id) ?? '~')) first.set(event_id, id);
  return new Set(first.values());
}

/** A part of the archive's list. */
export interface ArchivePart<T> {
  rows: PlacedRow<T>[];
  /** The lowest position that was looked at; absent if there was nothing. */
  floor: string | undefined;
  /** Nothing follows within the range. */
  isDone: boolean;
}

/** The same list in both places. Where a time is given, what closed before it is the archive's alone. */
export interface BothLists<T> {
  /** The archive has all rows that closed before this; absent: nothing is sure. */
  completeUntil?(): Promise<Date | undefined>;
  ledger(
    limit: number,
    after: string | undefined,
    since: Date | undefined,
  ): Promise<ExpandedPage<PlacedRow<T>>>;
  archive(range: Range, limit: number): Promise<ArchivePart<T>>;
  /** Ids of archived rows that are not to be listed, because the ledger has them, as they are or in a later run. */
  held(rows: readonly PlacedRow<T>[], since: Date | undefined): Promise<ReadonlySet<string>>;
}

/** Where a page begins in both lists. */
interface Cursor {
  /** Absent for the first page. */
  ledger?: string | undefined;
  /** The ledger's list is over. */
  isOver?: boolean;
  /** Everything in the archive at this position or higher has been listed, or is the ledger's to list. */
  below?: string | undefined;
  /**
   * The ledger is not asked for what closed before this: the same for all pages, or rows that are archived meanwhile
   * would change sides.
   */
  since?: Date | undefined;
}

/** The last time that a `Date` can be, milliseconds since the epoch. */
const LAST_TIME = 8.64e15;

const PARTS = z.tuple([
  z.string().nullable(),
  z.boolean(),
  z.string().regex(POSITION).nullable(),
  z.number().min(-LAST_TIME).max(LAST_TIME).nullable(),
]);
/** Rows of the archive that are looked at for one page: after them it ends, even with few rows. */
const MAX_EXAMINED = 500;

/**
 * A page of a list that goes on from the ledger into the archive. Both are sorted by the time that executions closed,
 * so they are read side by side: what both have stands at the same place in both, and the ledger's row is listed. What
 * only the archive has, because Temporal has removed it, is listed where it stood. So a row is listed once, also if
 * Temporal removes it between two pages. Of what closed so long ago that the archive has all of it, the ledger is asked
 * only whether it has been sent again.
 *
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listBoth<T>(
  lists: BothLists<T>,
  limit: number,
  after: string | undefined,
): Promise<Page<T>> {
  const cursor = after === undefined ? { since: await lists.completeUntil?.() } : fromText(after);
  const { since } = cursor;
  const ledger = await ledgerPage(lists, limit, cursor);
  // What closed later than the last execution that the ledger's page looked at belongs to this page.
  const above = ledger.after === undefined ? undefined : ledger.upTo;
  const isAllOpen = ledger.after !== undefined && ledger.upTo === undefined;
  const listed = new Set(ledger.data.map(({ id }) => id));
  const archive = isAllOpen
    ? { rows: [], floor: cursor.below, isDone: true as const }
    : await archiveRows(lists, { above, below: cursor.below }, listed, limit, since);
  const merged = merge(ledger.data, archive.rows, archive.isDone ? undefined : archive.floor, limit);
  const takesAll = merged.fromLedger === ledger.data.length;
  const data = merged.rows.map(({ value }) => value);
  if (takesAll && merged.fromArchive === archive.rows.length && archive.isDone) {
    if (ledger.after === undefined) return { data };
    return { data, after: toText({ ledger: ledger.after, below: above ?? cursor.below, since }) };
  }
  // All that stands higher than the last row has been listed; or, if rows ran out, all that was looked at.
  const below = merged.rows.length < limit ? archive.floor : (merged.rows.at(-1)?.position ?? cursor.below);
  if (takesAll && ledger.after === undefined) return { data, after: toText({ isOver: true, below, since }) };
  // The page ends within the ledger's: a shorter one tells where the next begins.
  if (merged.fromLedger === 0) return { data, after: toText({ ...cursor, below }) };
  const shorter = await ledgerPage(lists, merged.fromLedger, cursor);
  const isOver = shorter.after === undefined;
  return { data, after: toText({ ledger: shorter.after, isOver, below, since }) };
}

function ledgerPage<T>(
  { ledger }: BothLists<T>,
  limit: number,
  cursor: Cursor,
): Promise<ExpandedPage<PlacedRow<T>>> | ExpandedPage<PlacedRow<T>> {
  return cursor.isOver ? { data: [] } : ledger(limit, cursor.ledger, cursor.since);
}

/** Rows of the archive that the ledger does not have. @returns also how far the archive was looked at */
async function archiveRows<T>(
  lists: BothLists<T>,
  { above, below }: Range,
  listed: ReadonlySet<string>,
  limit: number,
  since: Date | undefined,
): Promise<ArchivePart<T>> {
  const rows: PlacedRow<T>[] = [];
  const size = limit + listed.size;
  let floor = below;
  for (let examined = 0; examined < MAX_EXAMINED && rows.length < limit; examined += size) {
    const part = await lists.archive({ above, below: floor }, size);
    const unlisted = part.rows.filter(({ id }) => !listed.has(id));
    const held = unlisted.length > 0 ? await lists.held(unlisted, since) : new Set();
    rows.push(...unlisted.filter(({ id }) => !held.has(id)));
    floor = part.floor ?? floor;
    if (part.isDone) return { rows, floor, isDone: true };
  }
  return { rows, floor, isDone: false };
}

/** The first rows of both, in their order. @param floor how far the archive was looked at, if not to its end */
function merge<T>(
  ledger: readonly PlacedRow<T>[],
  archive: readonly PlacedRow<T>[],
  floor: string | undefined,
  limit: number,
): { rows: PlacedRow<T>[]; fromLedger: number; fromArchive: number } {
  const rows: PlacedRow<T>[] = [];
  let fromLedger = 0;
  let fromArchive = 0;
  while (rows.length < limit) {
    const one = ledger[fromLedger];
    const other = archive[fromArchive];
    // Behind what was looked at in the archive, rows of the archive may come first.
    if (!other && one?.position !== undefined && floor !== undefined && one.position < floor) break;
    const isLedgers = one && (!one.position || !other?.position || one.position >= other.position);
    const next = isLedgers ? one : other;
    if (!next) break;
    rows.push(next);
    if (isLedgers) fromLedger += 1;
    else fromArchive += 1;
  }
  return { rows, fromLedger, fromArchive };
}

function toText({ ledger, isOver = false, below, since }: Cursor): string {
  return encodeCursor([ledger, isOver, below, since?.getTime()]);
}

function fromText(text: string): Cursor {
  const [ledger, isOver, below, since] = decodeCursor(text, PARTS);
  return {
    ...{ ledger: ledger ?? undefined, isOver, below: below ?? undefined },
    since: since === null ? undefined : new Date(since),
  };
}
