import type { Logger } from 'pino';
import { UNITS } from '../../domain/basics/duration.js';
import type { ChangeRepository } from '../../models/change/changes.js';
import { ActOutcomes } from '../../temporal/read/acts/act-outcomes.js';
import { repeat, warnUnlessOutage } from '../process/repeat.js';
import type { Ledger } from './ledger.js';
import type { Servers } from './servers.js';

/** How often what a crash left is looked for, milliseconds. */
const SWEEP_INTERVAL_MS = UNITS.m;

/**
 * Moves the changes that a crash left in their resources, and finds out how acts ended of which a crash left nobody to
 * say so, now and each minute.
 *
 * @returns stops it
 */
export function sweepChanges(changes: ChangeRepository, logger: Logger): () => void {
  const warn = warnUnlessOutage(
    logger,
    'Changes could not be moved to their collection, or it could not be found out how they ended. This is tried again in a minute.',
  );
  const sweep = async (stopping: AbortSignal): Promise<void> => {
    try {
      await changes.collect();
      await changes.outcomes.settleAll();
    } catch (error) {
      if (!stopping.aborted) warn(error);
    }
  };
  const stop = repeat(SWEEP_INTERVAL_MS, sweep, { now: true });
  // A sweep can take long; the next process completes it.
  return () => void stop();
}

/** {@link sweepChanges} of a service, which finds out from Temporal how acts ended. @returns stops it */
export function keepChanges(
  { database, temporal }: Servers,
  { deliveries }: Ledger,
  logger: Logger,
): () => void {
  const { changes } = database;
  const outcomes = new ActOutcomes(temporal.client, deliveries);
  changes.outcomes.findBy((accountId, change) => outcomes.of(accountId, change));
  return sweepChanges(changes, logger);
}
