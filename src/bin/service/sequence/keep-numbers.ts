import type { Logger } from 'pino';
import { NumberSource } from '../../../domain/sequence/number-source.js';
import { SEQUENCE } from '../../../domain/sequence/sequence.js';
import { repeat, warnUnlessOutage } from '../../process/repeat.js';
import { createTeller, type LogWatch } from '../log/log-watch.js';
import type { Servers } from '../servers.js';
import type { RestoreWatch } from './restore-watch.js';
import { watchedBlocks } from './watched-blocks.js';

/** The numbers that a process gives to events, and keeps for itself until it stops. */
export function keepNumbers(
  { database: { sequences } }: Pick<Servers, 'database'>,
  { restores, logWatch }: { restores: RestoreWatch; logWatch: LogWatch | undefined },
  logger: Logger,
) {
  const refused = logWatch?.refused ?? (async (error: Error) => logger.error(`${error.message}.`));
  const tell = createTeller({ refused });
  const numbers = new NumberSource(watchedBlocks(sequences, restores, tell));
  const notRenewed = warnUnlessOutage(
    logger,
    'Numbers of events were not renewed or given back. This is tried again.',
  );
  const stopRenewing = repeat(SEQUENCE.renewEveryMs, () => numbers.renew().catch(notRenewed));
  const stop = () => stopRenewing().then(() => numbers.stop().catch(notRenewed));
  return { numbers, tell, stop };
}
