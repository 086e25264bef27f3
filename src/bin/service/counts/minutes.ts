import type { Logger } from 'pino';
import type { AttemptObserver } from '../../../../activities/delivery/attempt-delivery.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { MinuteCount } from '../../../domain/stats/minute-count.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { TIMINGS, type Timings } from '../../../domain/timings.js';
import type { MinuteRepository } from '../../../models/stats/minutes.js';
import { repeat } from '../../process/repeat.js';

/**
 * Counts this process's attempts by the minute, and adds them to the shared minutes every few seconds: one write or
 * two. `stop` writes what is left.
 */
export function keepMinutes(
  repository: Pick<MinuteRepository, 'add'>,
  logger: Logger,
  { tally_interval_ms }: Timings = TIMINGS,
): AttemptObserver & { stop(): Promise<void> } {
  const count = new MinuteCount();
  const write = async (): Promise<void> => {
    const rows = count.take();
    await repository.add(rows).catch((error: unknown) => {
      // An outage is logged by who notices it first. Counts are written when the minute is over.
      logger.debug({ err: error }, 'Counts of attempts could not be written.');
      count.putBack(rows, sharedNow());
    });
  };
  const stopWriting = repeat(tally_interval_ms, write);
  return {
    async stop() {
      await stopWriting();
      await write();
    },
    attempted({ event_id }, report) {
      if (report.kind !== 'attempted') return;
      const { attempt, outcome } = report;
      const endedAt = Date.parse(attempt.at) + attempt.duration_ms;
      const isSuccess = outcome === 'delivered';
      const isFirst = isSuccess && attempt.trigger !== 'manual';
      // Clocks of machines differ by moments.
      count.add(endedAt, isSuccess, isFirst ? Math.max(endedAt - idTime(event_id), 0) : undefined);
    },
  };
}
