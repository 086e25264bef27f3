import { condition, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { formatDuration } from '../src/domain/basics/duration.js';
import type { EndpointKey } from '../src/domain/delivery/delivery.js';
import { timerSummary } from '../src/domain/ledger/timer-summary.js';
import { type Confirmation, confirmed } from './messages.js';

export interface VerifyEndpointInput extends EndpointKey {
  /** Waits between the tries, milliseconds. */
  schedule: readonly number[];
  /** How long the subscriber has to answer or to confirm, milliseconds. */
  limit_ms: number;
  /** Time for one answer, milliseconds. */
  timeout_ms: number;
}

/** Beyond a try's own limit: reading the endpoint, and the way back to Temporal. */
const OVERHEAD_MS = 10_000;

/**
 * Finds out whether an endpoint wants events: asks it again and again, and takes a confirmation at any time, until it has shown that it
 * does, or its time is over.
 */
export async function verifyEndpoint(input: VerifyEndpointInput): Promise<void> {
  const { account_id, endpoint_id, schedule, limit_ms, timeout_ms } = input;
  const key = { account_id, endpoint_id };
  const { tryHandshake, confirmEndpoint, giveUpEndpoint } = proxyActivities<Activities>({
    startToCloseTimeout: timeout_ms + OVERHEAD_MS,
    retry: { initialInterval: '200ms', maximumInterval: '30s' },
  });
  const given: Confirmation[] = [];
  setHandler(confirmed, (confirmation) => {
    given.push(confirmation);
  });

  const deadline = Date.now() + limit_ms;
  let tries = 0;
  let nextTryAt = Date.now();
  let reason = '';
  for (;;) {
    const confirmation = given.shift();
    if (confirmation) {
      const { allowed_rate, ...subject } = confirmation;
      const report = await confirmEndpoint(key, allowed_rate, subject);
      // A confirmation of what the endpoint was before its last change settles nothing.
      if (report?.state !== 'pending') return;
    } else if (Date.now() >= deadline) {
      break;
    } else if (Date.now() >= nextTryAt) {
      const report = await tryHandshake(key, timeout_ms);
      if (report.state === 'settled') return;
      reason = report.reason;
      setCurrentDetails(`Try ${tries + 1}: ${reason}`);
      // After the last wait of the schedule only a confirmation can come.
      nextTryAt = Date.now() + (schedule[tries] ?? Number.POSITIVE_INFINITY);
      tries += 1;
    }
    const wait = Math.min(nextTryAt, deadline) - Date.now();
    await condition(() => given.length > 0, Math.max(wait, 1), { summary: timerSummary(reason) });
  }
  await giveUpEndpoint(
    key,
    `It has not shown within ${formatDuration(limit_ms)} that it wants events. ${reason}`,
  );
}
