import type { Attempt } from '../attempt/attempt.js';
import { present } from '../basics/objects.js';
import type { DeliverySnapshot } from './delivery-state.js';

/**
 * What the deliveries of an execution take in the input of its next run, characters of JSON. Temporal takes 2 MiB of
 * one, of which up to 512 KiB are payloads; half of what is left is for characters that take several bytes.
 */
export const MAX_CARRIED_CHARACTERS = 750_000;

/** An attempt without what its endpoint answered, and then without all that no rule needs. */
const SHORTER: readonly ((attempt: Attempt) => Attempt)[] = [
  ({ response_headers: _, response_snippet: __, response_sealed: ___, timings_ms: ____, ...facts }) => ({
    ...facts,
    shortened: true,
  }),
  ({ number, at, duration_ms, status_code, error_code, trigger, lost_tries }) =>
    present({ number, at, duration_ms, status_code, error_code, trigger, lost_tries, shortened: true }),
];

/**
 * Deliveries for the next run of their execution: the oldest attempts are shortened until all of it fits. The histories
 * of earlier runs have them whole.
 *
 * @param limit characters of JSON for all of them together
 */
export function carriedOn(
  snapshots: readonly DeliverySnapshot[],
  limit = MAX_CARRIED_CHARACTERS,
): DeliverySnapshot[] {
  return snapshots.map((snapshot) => carry(snapshot, limit / snapshots.length));
}

function carry(snapshot: DeliverySnapshot, limit: number): DeliverySnapshot {
  const attempts = [...snapshot.record.attempts];
  const carried = { ...snapshot, record: { ...snapshot.record, attempts } };
  let size = JSON.stringify(carried).length;
  for (const shorten of SHORTER)
    for (let index = 0; size > limit && index < attempts.length; index += 1) {
      const attempt = attempts[index];
      if (!attempt) continue;
      const shorter = shorten(attempt);
      size += JSON.stringify(shorter).length - JSON.stringify(attempt).length;
      attempts[index] = shorter;
    }
  return carried;
}

/**
 * Attempts of a delivery, each whole if an earlier run of its execution has it so.
 *
 * @param earlier as that run's history tells them
 */
export function madeWhole(attempts: readonly Attempt[], earlier: readonly Attempt[]): Attempt[] {
  return attempts.map((attempt) => {
    const before = attempt.shortened && earlier.find(({ number }) => number === attempt.number);
    return before || attempt;
  });
}
