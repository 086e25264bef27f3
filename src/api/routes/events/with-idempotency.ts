import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import { Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { IdempotencyRecord, IdempotencyRepository } from '../../../models/event/idempotency.js';
import { LedgerBusyError } from '../../../temporal/errors.js';

/**
 * How long the request that claimed a key has to start the deliveries before a repeat of it does so, and how often that
 * looks.
 */
const CLAIM = { ms: 5_000, pollMs: 50 };
/**
 * An event that has been accepted is answered after this at the latest, whether its key is confirmed or not.
 * Milliseconds.
 */
const CONFIRM_LIMIT_MS = 500;

/**
 * Starts an event's deliveries once for each idempotency key (`docs/decisions/0046-once.md`).
 *
 * A claim that nobody confirms was cut short, or is being started by a process that is slow.
 *
 * @param key the account and its key
 * @param fresh what the key stands for if it has not been used before
 * @param starts the deliveries. `first`: for the request that claimed the key; `again`: for one that repeats it, those
 * that nobody has started, whatever the first one does or will do
 * @returns what the key was first used for
 * @throws Problem 409 if the key was used with another body, or with one whose hash cannot be made again because its
 * data key was erased
 */
export async function withIdempotency(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  fresh: IdempotencyRecord,
  starts: Record<'first' | 'again', (record: IdempotencyRecord) => Promise<void>>,
): Promise<IdempotencyRecord> {
  const { record, state } = await idempotency.claim(...key, fresh);
  if (record.body_hash !== fresh.body_hash) {
    throw new Problem(
      'idempotency_conflict',
      'The Idempotency-Key was used before with another body, or for an event that has been erased since. Use a new key for a new event.',
    );
  }
  if (state === 'confirmed') return record;
  if (state === 'new') {
    await starts.first(record).catch(async (error: unknown) => {
      // It is known that nothing was started. A repeat need not wait, nor look for it.
      if (error instanceof LedgerBusyError)
        await withTimeout(CONFIRM_LIMIT_MS, idempotency.refuse(...key, record.event_id)).catch(() => {});
      throw error;
    });
  } else {
    if (await isConfirmedInTime(idempotency, key, record)) return record;
    if (!(await idempotency.repeat(...key, record.event_id)))
      return withIdempotency(idempotency, key, fresh, starts);
    await starts.again(record);
  }
  // The event has been accepted. If this fails, a repeat of the request finds its deliveries.
  await withTimeout(CONFIRM_LIMIT_MS, idempotency.confirm(...key)).catch(() => {});
  return record;
}

/** Whether the request that claimed the key confirms it in time. An old claim is not waited for. */
async function isConfirmedInTime(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  { accepted_at }: IdempotencyRecord,
): Promise<boolean> {
  const deadline = Date.parse(accepted_at) + CLAIM.ms;
  while (sharedNow() < deadline) {
    await delay(CLAIM.pollMs);
    if (await idempotency.isConfirmed(...key)) return true;
  }
  return false;
}
