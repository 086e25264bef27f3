import type { Attempt } from '../attempt/attempt.js';
import type { AttemptReport } from '../attempt/attempt-report.js';
import { present } from '../basics/objects.js';
import { encodedBytes, MAX_VALUE_BYTES } from '../text/encoded-bytes.js';
import type { LiveGroup } from './delivery-group.js';
import type { DeliverySnapshot } from './delivery-state.js';

/**
 * The most that the deliveries of an execution take in the input of its next run, bytes, if the rest of it leaves as
 * much.
 */
export const MAX_CARRIED_BYTES = 750_000;

/**
 * An attempt without what no rule needs, and then, where 120 deliveries have a hundred attempts, without how it ended.
 */
const SHORTER: readonly ((attempt: Attempt) => Attempt)[] = [
  factsOf,
  ({ number, at, duration_ms, trigger }) => ({ number, at, duration_ms, trigger, shortened: true }),
];

/** The input of an execution's next run, which no character that takes several bytes makes too large. */
export function nextRun(input: LiveGroup, snapshots: readonly DeliverySnapshot[]): LiveGroup {
  const left = MAX_VALUE_BYTES - encodedBytes({ ...input, so_far: [] });
  return { ...input, so_far: carriedOn(snapshots, Math.min(left, MAX_CARRIED_BYTES), left) };
}

/**
 * Deliveries for the next run of their execution: the oldest attempts are shortened until all of it fits. Their
 * rows have them whole.
 *
 * @param limit bytes for all of them together
 * @param most bytes that are not exceeded even if attempts then do not say how they ended
 */
export function carriedOn(
  snapshots: readonly DeliverySnapshot[],
  limit = MAX_CARRIED_BYTES,
  most = limit,
): DeliverySnapshot[] {
  // A comma stands between two.
  const share = (bytes: number) => bytes / snapshots.length - 1;
  return snapshots.map((snapshot) => carry(snapshot, share(limit), share(most)));
}

function carry(snapshot: DeliverySnapshot, limit: number, most: number): DeliverySnapshot {
  const attempts = [...snapshot.record.attempts];
  const carried = { ...snapshot, record: { ...snapshot.record, attempts } };
  let size = encodedBytes(carried);
  for (const [step, shorten] of SHORTER.entries())
    for (let index = 0; size > (step < 1 ? limit : most) && index < attempts.length; index += 1) {
      const attempt = attempts[index];
      if (!attempt) continue;
      const shorter = shorten(attempt);
      size += encodedBytes(shorter) - encodedBytes(attempt);
      attempts[index] = shorter;
    }
  return carried;
}

/** Facts about an attempt that rules need. */
export function factsOf({
  number,
  at,
  duration_ms,
  status_code,
  error_code,
  error,
  trigger,
  lost_tries,
}: Attempt) {
  const how = { duration_ms, status_code, error_code, error, trigger, lost_tries };
  return present({ number, at, ...how, shortened: true as const });
}

/** A report of an attempt without what rows alone say of it. */
export function withoutAnswer(report: AttemptReport): AttemptReport {
  return report.kind === 'attempted' ? { ...report, attempt: factsOf(report.attempt) } : report;
}
