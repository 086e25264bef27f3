import { zip } from '../../../domain/basics/objects.js';
import type { Database } from '../../../models/database.js';
import type { NamedRecord, Segment } from '../../../models/log/segments.js';
import { createTeller, type LogWatch } from './log-watch.js';

/** Has the log take segments, those that are as they were written. */
export type SegmentAppender = ReturnType<typeof createSegmentAppender>;

export function createSegmentAppender(
  { segments, log }: Pick<Database, 'segments' | 'log'>,
  watch: Pick<LogWatch, 'refused'>,
) {
  const tell = createTeller(watch);

  /** @returns the numbers of their first leaves */
  const take = async (some: readonly Segment[]): Promise<number[]> => {
    const firsts = await log.appendRuns(some.map(({ hashes }) => hashes));
    await Promise.all(zip(some, firsts).map(([segment, first]) => segments.logged(segment, first)));
    return firsts;
  };

  return {
    /** Takes those that wait, and tells people of each that is not as it was written. */
    async takeAll(): Promise<void> {
      for await (const some of segments.unlogged()) {
        await take(some.filter(({ wrong }) => wrong === undefined));
        for (const { id, wrong } of some)
          if (wrong !== undefined) await tell('segment_altered', `the segment ${id}`, wrong);
      }
    },

    /** Makes a segment of records that are kept, and takes it. @returns their numbers, by name */
    async append(records: readonly NamedRecord[]): Promise<Map<string, number>> {
      if (records.length === 0) return new Map();
      const firsts = await take([await segments.insert(records)]);
      return new Map(firsts.flatMap((first) => records.map(({ name }, at) => [name, first + at] as const)));
    },
  };
}
