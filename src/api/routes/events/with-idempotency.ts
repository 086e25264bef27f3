import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import { Problem } from '../../../domain/http/problem.js';
import type { IdempotencyRecord, IdempotencyRepository } from '../../../models/event/idempotency.js';

/** How long the request that claimed a key has to start the deliveries before a repeat of it does so. Milliseconds. */
const CLAIM_MS = 5_000;
const CLAIM_POLL_MS = 50;
/** An event that has been accepted is answered after this at the latest, whether its key is confirmed or not. Milliseconds. */
const CONFIRM_LIMIT_MS = 500;

/**
 * Starts an event's deliveries once for each idempotency key.
 *
 * A claim that nobody confirms was cut short: its deliveries are started again under the same event id, and Temporal refuses those that
 * exist. So an event is started at least once, and each of its deliveries once.
 *
 * @param key the account and its key
 * @param fresh what the key stands for if it has not been used before
 * @param start starts the deliveries, and may be called again for the same event
 * @returns what the key was first used for
 * @throws Problem 409 if the key was used with another body, or with one whose hash cannot be made again because its data key was erased
 */
export async function withIdempotency(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  fresh: IdempotencyRecord,
  start: (record: IdempotencyRecord) => Promise<void>,
): Promise<IdempotencyRecord> {
  const { record, state } = await idempotency.claim(...key, fresh);
  if (record.body_hash !== fresh.body_hash) {
    throw new Problem(
      'idempotency_conflict',
      'The Idempotency-Key was used before with another body, or for an event that has been erased since. Use a new key for a new event.',
    );
  }
  if (state === 'confirmed') return record;
  if (state === 'pending' && (await isConfirmedInTime(idempotency, key, record))) return record;
  await start(record);
  // The event has been accepted. If this fails, a repeat of the request starts it again, which changes nothing.
  await withTimeout(CONFIRM_LIMIT_MS, idempotency.confirm(...key)).catch(() => {});
  return record;
}

/** Whether the request that claimed the key confirms it in time. An old claim is not waited for. */
async function isConfirmedInTime(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  { accepted_at }: IdempotencyRecord,
): Promise<boolean> {
  const deadline = Date.parse(accepted_at) + CLAIM_MS;
  while (Date.now() < deadline) {
    await delay(CLAIM_POLL_MS);
    if (await idempotency.isConfirmed(...key)) return true;
  }
  return false;
}
