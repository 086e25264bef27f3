import { EventLoopTurns } from '../../src/domain/basics/event-loop-turns.js';

/**
 * Attempts that are begun in the order in which they are asked for, whichever group they are of: all at once, thousands
 * of them would take the memory of thousands, and the first would wait until the last is prepared.
 *
 * @param begunAtOnce so many are begun before the process does anything else, such as sending them
 */
export function createSideBySide(begunAtOnce: number) {
  const turns = new EventLoopTurns(begunAtOnce);

  /** One that fails takes nothing from the others. @returns reports; `null` for one that failed */
  return <Item, Report>(items: readonly Item[], attempt: (item: Item) => Promise<Report>) =>
    Promise.all(
      items.map(
        (item) =>
          new Promise<Report | null>((resolve) => {
            turns.take(() => resolve(attempt(item).catch(() => null)));
          }),
      ),
    );
}

/** The process's attempts in the direct lane: few at once, so that the first are sent soon. */
export const directLane = createSideBySide(16);
/**
 * The process's attempts in the isolated lane. Endpoints of these are read from the database together, which is slow
 * for fewer.
 */
export const isolatedLane = createSideBySide(64);
