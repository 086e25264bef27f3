import { canonicalJson, changeRecord, voidRecord } from '../../domain/archive/record.js';
import { isLogAltered } from '../../domain/log/log-altered.js';
import { leafHash } from '../../domain/log/merkle-tree.js';
import type { NoteVerifier } from '../../domain/log/signed-note.js';
import { TILE_WIDTH } from '../../domain/log/tiles.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { AuditedDelivery, HasEvent } from '../../models/archive/archive-audit.js';
import type { LoggableChange } from '../../models/change/change-seal.js';
import type { Database } from '../../models/database.js';
import type { Difference } from './difference.js';
import { Held } from './held.js';
import { AGAIN, ALTERED, LeafMarks, RECORDED, REPLACED, UNKNOWN } from './leaf-marks.js';

const DAY_MS = 24 * 3_600_000;
/** Leaves without a record that are looked for once more, and of which it is told why. Beyond, they are counted. */
const MAX_UNKNOWN = 100_000;
const LEAVES_AT_ONCE = 500;
/** Records without a leaf that are told one by one. */
const MAX_LEAFLESS = 10_000;

/** What was compared with the log: nothing yet. */
export const NO_LOG_COUNTS = {
  deliveries: 0,
  changes: 0,
  voids: 0,
  events: 0,
  /** Deliveries and changes that the log does not have yet. */
  unlogged: 0,
  leaves: 0,
  // Leaves without a record, and why.
  replaced: 0,
  again: 0,
  expired: 0,
  missing: 0,
};

export type LogCounts = typeof NO_LOG_COUNTS;

/** What is compared, and with what. */
export interface LogSources {
  database: Pick<Database, 'archive' | 'changes' | 'log' | 'sequences'>;
  keys: readonly NoteVerifier[];
  /** Records are kept at least so long, days. */
  keptDays: number;
  /** The log should have everything from before this; absent: nobody knows. */
  loggedBefore?: Date | undefined;
  /** What Temporal has of what closed in a period; absent: that is not compared. */
  ledger?: { held: Held; from: Date; to: Date } | undefined;
}

/**
 * Compares everything that is archived, and all changes, with the leaves of the log: each record with its leaf, and
 * each leaf with its record. One pass over each; what is held is a byte for each leaf, a time for each 256, and 40
 * bytes for each event.
 *
 * @param counts are counted up
 */
export async function* compareLog(sources: LogSources, counts: LogCounts): AsyncIterable<Difference> {
  const { archive, changes, log, sequences } = sources.database;
  yield* auditTree(sources);
  const size = await log.size();
  counts.leaves = size;
  const marks = new LeafMarks(size);
  /** By tile, the latest time at which something closed whose record it has: it was appended later than that. */
  const times = new Float64Array(Math.ceil(size / TILE_WIDTH));
  const noteTime = (leaf: number, at: string | undefined) => {
    const tile = Math.floor(leaf / TILE_WIDTH);
    if (at !== undefined && times[tile] !== undefined) times[tile] = Math.max(times[tile], Date.parse(at));
  };
  const leafless: { id: string; leaf: number }[] = [];
  const mark = async (records: readonly LoggedRecord[]): Promise<void> => {
    for (const { id, leaf, at, isLeaf } of await withLeaves(records, log)) {
      if (!isLeaf) leafless.push({ id, leaf });
      else {
        marks.set(leaf, RECORDED);
        noteTime(leaf, at);
      }
    }
  };
  /** Of records that the log does not have yet, as far as they say. */
  const unloggedHashes = new Set<string>();

  const events = new Held();
  for await (const { id, how, name } of archive.audit.events()) {
    counts.events += 1;
    events.add(name);
    if (how) yield { id, what: how };
  }
  const hasEvent = (name: string) => events.has(name);
  for await (const delivery of archive.audit.deliveries(hasEvent)) {
    if (delivery.leaf === undefined) {
      yield* unloggedDelivery(delivery, sources.loggedBefore, counts);
      if (delivery.unloggedHash !== undefined && unloggedHashes.size < MAX_LEAFLESS)
        unloggedHashes.add(delivery.unloggedHash);
    } else {
      counts.deliveries += 1;
      yield* markDelivery({ ...delivery, leaf: delivery.leaf }, marks, noteTime, leafless, sources.ledger);
    }
  }
  for await (const some of changes.audit.changes()) {
    for (const one of some) yield* unlogged(one, sources.loggedBefore, counts);
    const logged = some.filter(({ leafIndex }) => leafIndex !== undefined);
    counts.changes += logged.length;
    await mark(logged.map(recordOfChange));
  }
  for await (const some of sequences.recorded()) {
    counts.voids += some.length;
    await mark(
      some.map(({ leafIndex: leaf, id, ...numbers }) => {
        return { id: `void numbers ${id}`, leaf, record: voidRecord(numbers) };
      }),
    );
  }
  for (const { id, leaf } of leafless) {
    const isOthers = !marks.has(leaf) || marks.get(leaf) === RECORDED;
    yield {
      id,
      what: isOthers
        ? 'is not in the log: its record was never appended'
        : `has another record than the one of leaf ${leaf} of the log`,
    };
    // It is told already that something is wrong with it.
    if (!isOthers) marks.set(leaf, ALTERED);
  }
  yield* explainLeaves(sources, marks, times, counts, hasEvent, unloggedHashes);
}

async function* auditTree({ database: { log }, keys }: LogSources): AsyncIterable<Difference> {
  try {
    await log.audit(keys, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!isLogAltered(error)) throw error;
    yield { id: 'the log', what: `is not the one that was signed: ${error.message}` };
  }
}

function* markDelivery(
  { id, revision, leaf, replaced, record, how, isLeafless }: AuditedDelivery & { leaf: number },
  marks: LeafMarks,
  noteTime: (leaf: number, at: string | undefined) => void,
  leafless: { id: string; leaf: number }[],
  ledger: LogSources['ledger'],
): Iterable<Difference> {
  if (isLeafless && leafless.length < MAX_LEAFLESS) {
    leafless.push({ id, leaf });
    return;
  }
  if (how) yield { id, what: how };
  if (isLeafless) return;
  marks.set(leaf, RECORDED);
  for (const number of replaced) marks.set(number, REPLACED);
  if (replaced.length !== revision - 1)
    yield { id, what: `is revision ${revision}, but says that it replaced ${replaced.length} records` };
  const { closed_at } = record ?? {};
  noteTime(leaf, closed_at);
  if (!ledger || closed_at === undefined) return;
  const at = new Date(closed_at);
  if (at >= ledger.from && at < ledger.to && !ledger.held.has(id))
    yield { id, what: `closed at ${closed_at}, but Temporal does not have it` };
}

/** A delivery that is kept and not in the log: a run was interrupted, or is under way. */
function* unloggedDelivery(
  { id, archivedAt }: AuditedDelivery,
  loggedBefore: Date | undefined,
  counts: LogCounts,
): Iterable<Difference> {
  counts.unlogged += 1;
  // A time that no run can have written is none.
  if (!(loggedBefore && archivedAt >= loggedBefore.getTime() && archivedAt <= sharedNow()))
    yield { id, what: 'is kept, and is not in the log yet' };
}

/** A change that says that the log does not have it. */
function* unlogged(
  { change: { id, at }, leafIndex, isPending, wrong }: LoggableChange,
  loggedBefore: Date | undefined,
  counts: LogCounts,
): Iterable<Difference> {
  if (leafIndex !== undefined) return;
  counts.unlogged += 1;
  if (wrong !== undefined) yield { id, what: wrong };
  else if (!isPending && loggedBefore && Date.parse(at) < loggedBefore.getTime())
    yield { id, what: `was made at ${at}, and is not in the log yet` };
}

/** A record, the leaf that it says it has, and since when it is there. */
interface LoggedRecord {
  id: string;
  leaf: number;
  record: object;
  at?: string;
}

function recordOfChange({ accountId, leafIndex: leaf = -1, ...salted }: LoggableChange): LoggedRecord {
  const { id, at } = salted.change;
  return { id, leaf, at, record: changeRecord(accountId, salted) };
}

/** Records, and whether the log has the leaf of each where it says. */
async function withLeaves(records: readonly LoggedRecord[], log: Database['log']) {
  const leaves = await log.leavesAt(records.map(({ leaf }) => leaf));
  return records.map(({ record, ...rest }) => {
    const isLeaf = leaves.get(rest.leaf)?.equals(leafHash(canonicalJson(record))) === true;
    return { ...rest, isLeaf };
  });
}

/** Tells of each leaf without a record why it has none. */
async function* explainLeaves(
  { database, keptDays }: LogSources,
  marks: LeafMarks,
  times: Float64Array,
  counts: LogCounts,
  hasEvent: HasEvent,
  unloggedHashes: ReadonlySet<string>,
): AsyncIterable<Difference> {
  await lookAgain(database, marks, hasEvent);
  await findAgain(database, marks, unloggedHashes);
  counts.replaced = marks.count(REPLACED);
  counts.again = marks.count(AGAIN);
  const keptSince = sharedNow() - keptDays * DAY_MS;
  let earliest = 0;
  let tile = -1;
  let missing: { first: number; last: number } | undefined;
  for (const leaf of marks.with(UNKNOWN)) {
    for (; tile < Math.floor(leaf / TILE_WIDTH); ) {
      earliest = Math.max(earliest, times[tile] ?? 0);
      tile += 1;
      const begun = await database.log.begunAt(tile * TILE_WIDTH);
      earliest = Math.max(earliest, begun?.getTime() ?? 0);
    }
    // Of the first leaves nobody may know when they were appended.
    if (earliest > 0 && earliest < keptSince) {
      counts.expired += 1;
      continue;
    }
    counts.missing += 1;
    if (missing && missing.last === leaf - 1) missing.last = leaf;
    else {
      if (missing) yield isMissing(missing);
      missing = { first: leaf, last: leaf };
    }
  }
  if (missing) yield isMissing(missing);
}

function isMissing({ first, last }: { first: number; last: number }): Difference {
  return first === last
    ? { id: `leaf ${first}`, what: 'has no record: it was removed before its time' }
    : { id: `leaves ${first} to ${last}`, what: 'have no records: they were removed before their time' };
}

/** Records that were stored or moved while the pass went by. */
async function lookAgain(
  { archive, changes, log }: LogSources['database'],
  marks: LeafMarks,
  hasEvent: HasEvent,
): Promise<void> {
  for (const leaves of unknownIn(marks)) {
    for await (const { leaf, replaced, isLeafless } of archive.audit.deliveries(hasEvent, leaves)) {
      if (leaf === undefined || isLeafless) continue;
      marks.set(leaf, RECORDED);
      for (const number of replaced) marks.set(number, REPLACED);
    }
    for await (const some of changes.audit.changes(leaves))
      for (const { leaf, isLeaf } of await withLeaves(some.map(recordOfChange), log))
        if (isLeaf) marks.set(leaf, RECORDED);
  }
}

/**
 * Leaves of a record that was appended once more after a crash, of which another leaf has the record, or had it; and of
 * records that the log has, though they do not say so yet.
 */
async function findAgain(
  { log }: LogSources['database'],
  marks: LeafMarks,
  unloggedHashes: ReadonlySet<string>,
): Promise<void> {
  const unknown = new Map<string, number[]>();
  for (const leaves of unknownIn(marks))
    for (const [leaf, hash] of await log.leavesAt(leaves)) {
      const key = hash.toString('latin1');
      if (unloggedHashes.has(key)) marks.set(leaf, RECORDED);
      else unknown.set(key, [...(unknown.get(key) ?? []), leaf]);
    }
  if (unknown.size === 0) return;
  for (let first = 0; ; ) {
    const some = await log.leavesFrom(first);
    if (some.length === 0) return;
    for (const [at, hash] of some.entries())
      if ([RECORDED, REPLACED].includes(marks.get(first + at)))
        for (const leaf of unknown.get(hash.toString('latin1')) ?? []) marks.set(leaf, AGAIN);
    first += some.length;
  }
}

/** Leaves of which nothing is known now, some at a time; they may be marked meanwhile. */
function* unknownIn(marks: LeafMarks): Iterable<number[]> {
  const unknown = [...marks.with(UNKNOWN, MAX_UNKNOWN)];
  while (unknown.length > 0) yield unknown.splice(0, LEAVES_AT_ONCE);
}
