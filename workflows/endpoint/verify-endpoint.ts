import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { formatDuration } from '../../src/domain/basics/duration.js';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import { fitSummary } from '../../src/domain/ledger/summaries.js';
import { type Confirmation, confirmed, verifyAgain } from '../messages.js';

export interface VerifyEndpointInput extends EndpointKey {
  /** Waits between the attempts, milliseconds. */
  schedule: readonly number[];
  /** How long the subscriber has to answer or to confirm, milliseconds. */
  limit_ms: number;
  /** Time for one response, milliseconds. */
  timeout_ms: number;
}

/** Beyond an attempt's own limit: reading the endpoint, and the way back to Temporal. */
const OVERHEAD_MS = 10_000;

/**
 * Finds out whether an endpoint wants events: asks it by schedule, and accepts a confirmation at any time, until the
 * endpoint is verified or the time limit ends. A change of the endpoint, or a request of its owner, starts it again.
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
  let began = Date.now();
  let asked = began;
  setHandler(verifyAgain, () => {
    asked = Date.now();
  });
  // Signals that arrive with the start are answered by it.
  const isAskedAgain = () => asked > began;

  let tries = 0;
  let nextTryAt = began;
  let last: { reason: string; verification_revision?: number } = { reason: '' };
  for (;;) {
    const confirmation = given.shift();
    if (confirmation) {
      const { allowed_rate, ...subject } = confirmation;
      const report = await confirmEndpoint(key, allowed_rate, subject);
      // A confirmation of an earlier version of the endpoint settles nothing.
      if (report?.state !== 'pending' && !isAskedAgain()) return;
    } else if (isAskedAgain()) {
      if (workflowInfo().continueAsNewSuggested) return continueAsNew<typeof verifyEndpoint>(input);
      began = Date.now();
      nextTryAt = began;
      tries = 0;
      continue;
    } else if (Date.now() >= began + limit_ms) {
      const limit = formatDuration(limit_ms);
      const reason = `It was not verified within ${limit}. ${last.reason}`;
      const state = await giveUpEndpoint(key, reason, last.verification_revision);
      if (state === 'pending') asked = Date.now();
      if (!isAskedAgain()) return;
      continue;
    } else if (Date.now() >= nextTryAt) {
      const report = await tryHandshake(key, timeout_ms);
      if (report.state === 'settled') {
        if (!isAskedAgain()) return;
        continue;
      }
      last = report;
      setCurrentDetails(`Try ${tries + 1}: ${report.reason}`);
      // After the last wait of the schedule only a confirmation can come.
      nextTryAt = Date.now() + (schedule[tries] ?? Number.POSITIVE_INFINITY);
      tries += 1;
    }
    const wait = Math.min(nextTryAt, began + limit_ms) - Date.now();
    await condition(() => given.length > 0 || isAskedAgain(), Math.max(wait, 1), {
      summary: fitSummary(last.reason),
    });
  }
}
