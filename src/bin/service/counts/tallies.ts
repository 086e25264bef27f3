import type { Logger } from 'pino';
import { Tally } from '../../../domain/stats/tally.js';
import { TIMINGS, type Timings } from '../../../domain/timings.js';
import type { TallyRepository } from '../../../models/stats/tallies.js';
import { repeat } from '../../process/repeat.js';

/** Writes in one call: FerretDB makes them one by one, 1 to 2 ms each. */
const BATCH = 200;

/** Counts closed deliveries in this process, and adds what it has counted to the shared tallies every few seconds. */
export function keepTallies(
  repository: Pick<TallyRepository, 'add'>,
  logger: Logger,
  { tally_interval_ms }: Timings = TIMINGS,
) {
  const tally = new Tally();
  /** Writes what was counted since the last time, or could not be written then. */
  const write = async (): Promise<void> => {
    const { rows, lost } = tally.take();
    if (lost > 0)
      logger.warn(
        { lost },
        'Closed deliveries were left out of the statistics: too many wait to be written.',
      );
    while (rows.length > 0) {
      const batch = rows.splice(0, BATCH);
      try {
        await repository.add(batch);
      } catch (error) {
        // An outage is logged by who notices it first. What was counted is written when it is over.
        logger.debug({ err: error }, 'Statistics could not be written.');
        tally.putBack([...batch, ...rows.splice(0)]);
      }
    }
  };

  const stopWriting = repeat(tally_interval_ms, write);
  return {
    tally,
    write,
    /** Writes what is left. */
    async stop() {
      await stopWriting();
      await write();
      const { rows } = tally.take();
      if (rows.length > 0)
        logger.warn({ rows: rows.length }, 'The latest statistics were lost: MongoDB does not respond.');
    },
  };
}
