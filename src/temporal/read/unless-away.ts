import type { Client } from '@temporalio/client';
import { TimeoutError, withTimeout } from '../../domain/basics/with-timeout.js';
import { isTemporalUnavailable } from '../errors.js';
import { endingWithin } from '../server/calls.js';

/** How long a read waits for what Temporal adds to the facts in MongoDB, milliseconds. */
const AWAY_AFTER_MS = 2_000;

/**
 * Result of a read from Temporal; another one if Temporal is away, so that what MongoDB has is shown all the same.
 *
 * @param read its calls end as soon as it is not waited for any more
 * @param otherwise if Temporal cannot be reached, or does not answer within {@link AWAY_AFTER_MS}
 */
export async function unlessAway<T, O>(
  client: Pick<Client, 'withDeadline'>,
  read: () => Promise<T>,
  otherwise: O,
): Promise<T | O> {
  try {
    return await withTimeout(AWAY_AFTER_MS, endingWithin(client, AWAY_AFTER_MS, read));
  } catch (error) {
    if (error instanceof TimeoutError || isTemporalUnavailable(error)) return otherwise;
    throw error;
  }
}
