import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import { Problem } from '../../../domain/http/problem.js';
import type { IdempotencyRecord, IdempotencyRepository } from '../../../models/event/idempotency.js';
import { LedgerBusyError } from '../../../temporal/errors.js';

/** How long the request that claimed a key has to start the deliveries before a repeat of it does so. Milliseconds. */
const CLAIM_MS = 5_000;
const CLAIM_POLL_MS = 50;
/** An event that has been accepted is answered after this at the latest, whether its key is confirmed or not. Milliseconds. */
const CONFIRM_LIMIT_MS = 500;

/** Starts the deliveries of an event whose key has been claimed. */
export interface ClaimedStarts {
  /** For the request that claimed the key. */
  first(record: IdempotencyRecord): Promise<void>;
  /** For one that repeats it: starts those that nobody has started, whatever the first one does or will do. */
  again(record: IdempotencyRecord): Promise<void>;
}

/**
 * Starts an event's deliveries once for each idempotency key (`docs/decisions/0046-once.md`).
 *
 * A claim that nobody confirms was cut short, or is being started by a process that is slow.
 *
 * @param key the account and its key
 * @param fresh what the key stands for if it has not been used before
 * @returns what the key was first used for
 * @throws Problem 409 if the key was used with another body, or with one whose hash cannot be made again because its data key was erased
 */
export async function withIdempotency(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  fresh: IdempotencyRecord,
  starts: ClaimedStarts,
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
    await startFirst(idempotency, key, record, starts);
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

async function startFirst(
  idempotency: IdempotencyRepository,
  key: readonly [accountId: string, key: string],
  record: IdempotencyRecord,
  starts: ClaimedStarts,
): Promise<void> {
  try {
    await starts.first(record);
  } catch (error) {
    // It is known that nothing was started. A repeat need not wait, nor look for it.
    if (error instanceof LedgerBusyError)
      await withTimeout(CONFIRM_LIMIT_MS, idempotency.refuse(...key, record.event_id)).catch(() => {});
    throw error;
  }
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
