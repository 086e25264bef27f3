import { leafHash } from '../../../packages/tlog/src/index.js';
import type { Database } from '../../models/database.js';
import { deliveryNamed, type Segment } from '../../models/log/segments.js';
import type { Difference } from './difference.js';
import { AGAIN, type LeafMarks, NAMED, OLD, REPLACED } from './leaf-marks.js';

/** Leaves of segments that the log is not known to have, which are remembered. */
const MAX_WAITING = 10_000;

/**
 * Finds out which segment names each leaf of the log, and marks it.
 *
 * @param keptSince of older segments the records may be past their time
 * @param loggedBefore the log should have the segments from before this; absent: nobody knows
 * @param waiting takes hashes of records, as Latin-1, of segments that do not say where the log has them
 */
export async function* compareSegments(
  { segments, log }: Pick<Database, 'segments' | 'log'>,
  { keptSince, loggedBefore }: { keptSince: number; loggedBefore: Date | undefined },
  marks: LeafMarks,
  waiting: Set<string>,
): AsyncIterable<Difference> {
  for await (const some of segments.all()) {
    const leaves = await log.leavesAt(some.flatMap((segment) => placesOf(segment).map(({ leaf }) => leaf)));
    for (const segment of some) {
      const { id, at, first, wrong } = segment;
      const places = placesOf(segment);
      if (wrong !== undefined) yield { id, what: wrong };
      else if (first === undefined) {
        for (const hash of segment.hashes)
          if (waiting.size < MAX_WAITING) waiting.add(hash.toString('latin1'));
        if (loggedBefore && at < loggedBefore)
          yield { id, what: `was made at ${at.toISOString()}, and is not in the log yet` };
      } else if (places.every(({ leaf, hash }) => leaves.get(leaf)?.equals(hash)))
        for (const { leaf } of places) marks.set(leaf, at.getTime() < keptSince ? OLD : NAMED);
      else yield { id, what: `says that its first leaf is ${first}, and the log has others there` };
    }
  }
}

/** Explains leaves whose record is in no row that names their segment: by the row that stands there now. */
export async function* explainNamed(
  { segments, records }: Pick<Database, 'segments' | 'records'>,
  marks: LeafMarks,
): AsyncIterable<Difference> {
  for await (const some of segments.all()) {
    const open = some.flatMap((segment) =>
      placesOf(segment).flatMap(({ name, ...place }) => {
        const delivery = marks.get(place.leaf) === NAMED ? deliveryNamed(name) : undefined;
        return delivery ? [{ ...place, ...delivery }] : [];
      }),
    );
    if (open.length === 0) continue;
    const rows = await records.audit.standing(open.map(({ id }) => id));
    for (const { id, revision, leaf, hash } of open) {
      const row = rows.get(id);
      if (!row) continue;
      // A delivery that was sent again has no record until it closes.
      if (row.revision > revision) marks.set(leaf, REPLACED);
      else if (row.revision < revision)
        yield {
          id,
          what: `stands in revision ${row.revision}: an earlier one was put back in the place of ${revision}`,
        };
      else if (leafHash(String(row.record)).equals(hash)) marks.set(leaf, AGAIN);
    }
  }
}

/** The leaves of a segment with names and hashes, those that it says the log has. */
function placesOf({ records, hashes, first }: Segment): { name: string; hash: Buffer; leaf: number }[] {
  if (first === undefined) return [];
  return records.flatMap((name, at) => {
    const hash = hashes[at];
    return hash ? [{ name, hash, leaf: first + at }] : [];
  });
}
