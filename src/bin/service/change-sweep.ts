import type { Logger } from 'pino';
import type { ChangeRepository } from '../../models/change/changes.js';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';
import { isTemporalUnavailable } from '../../temporal/errors.js';
import { ActOutcomes } from '../../temporal/read/acts/act-outcomes.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { createLedger } from './ledger.js';
import type { Servers } from './servers.js';

/** How often what a crash left is looked for, milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;

/**
 * Moves the changes that a crash left in their resources, and finds out how acts ended of which a crash left nobody to say so, now and each minute.
 *
 * @returns stops it
 */
export function sweepChanges(changes: ChangeRepository, logger: Logger): () => void {
  let isSweeping = false;
  let isStopped = false;
  const sweep = async (): Promise<void> => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      await changes.collect();
      await changes.settle();
    } catch (error) {
      // An outage is logged once, by who notices it first, and not each minute.
      if (!isStopped && !isDatabaseUnavailable(error) && !isTemporalUnavailable(error))
        logger.warn(
          { err: error },
          'Changes could not be moved to their collection, or it could not be found out how they ended. This is tried again in a minute.',
        );
    } finally {
      isSweeping = false;
    }
  };
  void sweep();
  const timer = setInterval(sweep, SWEEP_INTERVAL_MS);
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** {@link sweepChanges} of a service, which finds out from Temporal how acts ended. @returns stops it */
export function keepChanges(servers: Servers, starter: DeliveryStarter, logger: Logger): () => void {
  const { changes } = servers.database;
  const outcomes = new ActOutcomes(servers.temporal.client, createLedger(servers, starter).deliveries);
  changes.findOutcomesBy((accountId, change) => outcomes.of(accountId, change));
  return sweepChanges(changes, logger);
}
