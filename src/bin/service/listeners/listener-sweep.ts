import type { Logger } from 'pino';
import { UNITS } from '../../../domain/basics/duration.js';
import { systemOrigin } from '../../../domain/change/change.js';
import { LISTENER_LIMIT_MS } from '../../../domain/listener/listener.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { Database } from '../../../models/database.js';
import { isDatabaseUnavailable } from '../../../models/mongo/unavailable.js';
import type { DeliveryStarter } from '../../../temporal/write/delivery-starter.js';
import { repeat, warnUnlessOutage } from '../../process/repeat.js';

const SWEEP_INTERVAL_MS = UNITS.m;

/**
 * Deletes listeners to which nobody has been connected for long.
 *
 * @param now milliseconds since the epoch
 * @param stopping leaves those that are left to the next sweep
 */
export async function deleteExpiredListeners(
  { endpoints, inboxes, listeners }: Pick<Database, 'endpoints' | 'inboxes' | 'listeners'>,
  starter: Pick<DeliveryStarter, 'release'>,
  now: number,
  stopping?: AbortSignal,
): Promise<void> {
  for await (const endpoint of listeners.unseenSince(new Date(now - LISTENER_LIMIT_MS))) {
    if (stopping?.aborted) return;
    const { account_id, endpoint_id } = endpoint;
    // As if its owner had deleted it. The record goes last, so that what a crash leaves is done by the next sweep.
    await endpoints.delete(account_id, endpoint_id, systemOrigin('listener'));
    await starter.release(endpoint);
    await inboxes.remove(account_id, endpoint_id);
    await listeners.remove(endpoint_id);
  }
}

/** Looks for such listeners each minute. @returns stops it */
export function sweepListeners(
  database: Pick<Database, 'endpoints' | 'inboxes' | 'listeners'>,
  starter: Pick<DeliveryStarter, 'release'>,
  logger: Logger,
): () => Promise<void> {
  const warn = warnUnlessOutage(
    logger,
    'Listeners without a connection could not be deleted. This is tried again in a minute.',
    isDatabaseUnavailable,
  );
  return repeat(SWEEP_INTERVAL_MS, (stopping) =>
    deleteExpiredListeners(database, starter, sharedNow(), stopping).catch(warn),
  );
}
