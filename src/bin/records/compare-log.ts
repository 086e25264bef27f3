import type { NoteVerifier } from '../../../packages/tlog/src/index.js';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { UNITS } from '../../domain/basics/duration.js';
import { groupedBy } from '../../domain/basics/objects.js';
import { LogCopyError } from '../../domain/log/checkpoint-copy.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import { canonicalJson, changeRecord, voidRecord } from '../../domain/records/record.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { LoggableChange } from '../../models/change/change-seal.js';
import type { Database } from '../../models/database.js';
import { NO_LEAF } from '../../models/log/in-log.js';
import type { Memory } from '../../models/log/log.js';
import { leafIn, nameOf, type Segment } from '../../models/log/segments.js';
import type { AuditedDelivery, ClosedRow } from '../../models/records/record-audit.js';
import { wrongIn } from '../../models/records/unaltered.js';
import { compareSegments, explainNamed } from './compare-segments.js';
import type { Difference } from './difference.js';
import { Held } from './held.js';
import { AGAIN, ALTERED, LeafMarks, NAMED, OLD, RECORDED, REPLACED, UNKNOWN } from './leaf-marks.js';

/** Leaves without a record that are looked for once more, and of which it is told why. Beyond, they are counted. */
const MAX_MISSING = 100_000;
const LEAVES_AT_ONCE = 500;
/** Records without a leaf that are told one by one. */
const MAX_LEAFLESS = 10_000;

/** Counts of what was compared with the log: nothing yet. */
export const NO_LOG_COUNTS = {
  deliveries: 0,
  /** Deliveries that have no record yet. */
  open: 0,
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

/** Sources of the comparison. */
export interface LogSources {
  database: Pick<Database, 'records' | 'changes' | 'ends' | 'log' | 'segments' | 'sequences'>;
  keys: readonly NoteVerifier[];
  /** Places outside of MongoDB that remember checkpoints of the log. */
  memory: Memory;
  /** Records are kept at least so long, days. */
  keptDays: number;
  /** The log should have everything from before this; absent: nobody knows. */
  loggedBefore?: Date | undefined;
}

/**
 * Compares all closed deliveries, and all changes, with segments and leaves of the log: each record with its leaf, and
 * each leaf with its record. It needs a byte of memory for each leaf and 40 bytes for each event.
 *
 * @param counts are counted up
 */
export async function* compareLog(sources: LogSources, counts: LogCounts): AsyncIterable<Difference> {
  const { database, keptDays, loggedBefore } = sources;
  const { records, changes, ends, log, segments, sequences } = database;
  yield* auditTree(sources);
  const size = await log.size();
  counts.leaves = size;
  const marks = new LeafMarks(size);
  /** Names of records that the log may have, although their segments do not say so. */
  const waiting = new Set<string>();
  // By this machine's clock: somebody with access to MongoDB can set that one.
  const keptSince = Date.now() - keptDays * UNITS.d;
  yield* compareSegments(database, { keptSince, loggedBefore }, marks, waiting);

  const events = new Held();
  for await (const { id, how, name } of records.audit.events()) {
    counts.events += 1;
    events.add(name);
    if (how) yield { id, what: how };
  }
  for await (const some of records.audit.deliveries((name) => events.has(name))) {
    const known = await segments.find(some.flatMap(({ row }) => row?.segment ?? []));
    const leaves = some.map(({ row }) => row && leafOf(known.get(row.segment), row));
    const stored = await log.leavesAt(leaves.flatMap((leaf) => leaf ?? []));
    for (const [at, delivery] of some.entries()) {
      const { id, row, how } = delivery;
      if (how) yield { id, what: how };
      if (!row) counts.open += 1;
      else {
        const leaf = leaves[at];
        const hash = leaf === undefined ? undefined : stored.get(leaf);
        const place = { segment: known.get(row.segment), leaf, hash };
        yield* compareRow({ ...delivery, row }, place, sources, marks, counts);
      }
    }
  }

  const leafless: { id: string; leaf: number }[] = [];
  const mark = async (records: readonly LoggedRecord[]): Promise<void> => {
    for (const { id, leaf, isLeaf } of await withLeaves(records, log)) {
      if (isLeaf) marks.set(leaf, RECORDED);
      else if (leafless.length < MAX_LEAFLESS) leafless.push({ id, leaf });
    }
  };
  for await (const some of changes.audit.changes()) {
    for (const one of some) yield* unlogged(one, loggedBefore, counts);
    const logged = some.filter(({ leafIndex }) => leafIndex !== undefined);
    counts.changes += logged.length;
    await mark(logged.map(recordOfChange));
  }
  for await (const { id, wrong } of sequences.altered()) yield { id, what: wrong };
  for await (const { id, wrong } of ends.altered()) yield { id: `end ${id}`, what: wrong };
  for (const isLogged of [true, false])
    for await (const some of sequences.voids.recorded(isLogged)) {
      for (const { id, wrong } of some)
        if (wrong !== undefined) yield { id: `void numbers ${id}`, what: wrong };
      const right = some.filter(({ wrong }) => wrong === undefined);
      if (!isLogged) continue;
      counts.voids += right.length;
      await mark(
        right.map((one) => ({ id: `void numbers ${one.id}`, leaf: one.leafIndex, record: voidRecord(one) })),
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
  yield* explainLeaves(database, marks, counts, waiting);
}

/** Whether the log would be signed as it is: all tiles, and every checkpoint that something remembers. */
async function* auditTree({ database: { log }, keys, memory }: LogSources): AsyncIterable<Difference> {
  try {
    await log.check(keys, memory);
  } catch (error) {
    if (!(error instanceof LogAlteredError || error instanceof LogCopyError)) throw error;
    yield { id: 'the log', what: `would not be signed: ${error.message}` };
  }
}

/** Where the segment of a row says that the log has its record. */
function leafOf(segment: Segment | undefined, { _id: id, revision }: ClosedRow): number | undefined {
  return segment && leafIn(segment, nameOf({ id, revision }));
}

/** @param place the segment that the row names, if it is there, and the leaf that the log has where that says */
function* compareRow(
  { id, row, keptAt, how }: AuditedDelivery & { row: ClosedRow },
  place: { segment: Segment | undefined; leaf: number | undefined; hash: Buffer | undefined },
  { loggedBefore }: LogSources,
  marks: LeafMarks,
  counts: LogCounts,
): Iterable<Difference> {
  const { segment, leaf, hash } = place;
  if (!segment) {
    counts.unlogged += 1;
    // A time that no run can have written is none.
    const isRecent = loggedBefore && keptAt >= loggedBefore.getTime() && keptAt <= sharedNow();
    if (!how && !isRecent) yield { id, what: `names the segment ${row.segment}, which is not there` };
    return;
  }
  const wrong = wrongIn(segment, row);
  if (wrong !== undefined) {
    if (!how) yield { id, what: wrong };
    // It is told already that something is wrong with it.
    if (leaf !== undefined) marks.set(leaf, ALTERED);
    return;
  }
  if (leaf === undefined) {
    counts.unlogged += 1;
    return;
  }
  counts.deliveries += 1;
  if (hash?.equals(leafHash(row.record))) marks.set(leaf, RECORDED);
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

/** A record, and the leaf that it says it has. */
interface LoggedRecord {
  id: string;
  leaf: number;
  record: object;
}

function recordOfChange({ accountId, leafIndex: leaf = NO_LEAF, ...salted }: LoggableChange): LoggedRecord {
  return { id: salted.change.id, leaf, record: changeRecord(accountId, salted) };
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
  database: LogSources['database'],
  marks: LeafMarks,
  counts: LogCounts,
  waiting: ReadonlySet<string>,
): AsyncIterable<Difference> {
  yield* explainNamed(database, marks);
  await lookAgain(database, marks);
  await findAgain(database, marks, waiting);
  counts.replaced = marks.count(REPLACED);
  counts.again = marks.count(AGAIN);
  counts.expired = marks.count(OLD);
  counts.missing = marks.count(NAMED) + marks.count(UNKNOWN);
  let missing: { first: number; last: number } | undefined;
  for (const leaf of marks.with([NAMED, UNKNOWN])) {
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

/** Changes that were given to the log while the pass went by. */
async function lookAgain({ changes, log }: LogSources['database'], marks: LeafMarks): Promise<void> {
  for (const leaves of missingIn(marks))
    for await (const some of changes.audit.changes(leaves))
      for (const { leaf, isLeaf } of await withLeaves(some.map(recordOfChange), log))
        if (isLeaf) marks.set(leaf, RECORDED);
}

/**
 * Leaves of a record that was appended once more after a crash, of which another leaf has the record, or had it; and of
 * records that the log has, though their segments do not say so yet.
 */
async function findAgain(
  { log }: LogSources['database'],
  marks: LeafMarks,
  waiting: ReadonlySet<string>,
): Promise<void> {
  const unknown: { key: string; leaf: number }[] = [];
  for (const leaves of missingIn(marks))
    for (const [leaf, hash] of await log.leavesAt(leaves)) {
      const key = hash.toString('latin1');
      if (waiting.has(key)) marks.set(leaf, RECORDED);
      else unknown.push({ key, leaf });
    }
  if (unknown.length === 0) return;
  const leavesOf = groupedBy(unknown, ({ key }) => key);
  for (let first = 0; ; ) {
    const some = await log.leavesFrom(first);
    if (some.length === 0) return;
    for (const [at, hash] of some.entries())
      if ([RECORDED, REPLACED].includes(marks.get(first + at)))
        for (const { leaf } of leavesOf.get(hash.toString('latin1')) ?? []) marks.set(leaf, AGAIN);
    first += some.length;
  }
}

/** Leaves that have no record so far, some at a time; they may be marked meanwhile. */
function* missingIn(marks: LeafMarks): Iterable<number[]> {
  const missing = [...marks.with([NAMED, UNKNOWN], MAX_MISSING)];
  while (missing.length > 0) yield missing.splice(0, LEAVES_AT_ONCE);
}
