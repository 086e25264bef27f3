import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { releaseParked } from '../../../workflows/index.js';
import { type ReleaseScope, releaseAgain } from '../../../workflows/messages.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { GiveWay } from '../../domain/endpoint/give-way.js';
import {
  answersWell,
  failsAgain,
  nextReleaseRate,
  type ReleaseOptions,
  type ReleaseResult,
} from '../../domain/endpoint/release.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { releaseWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { RowSearch } from '../../domain/records/row-search.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { TIMINGS, type Timings, timingsOfInput } from '../../domain/timings.js';
import {
  listWaiting,
  release,
  sampleOutcomes,
  toUnits,
  type WaitingDelivery,
  type WaitingSources,
} from './parked-deliveries.js';

const SECOND_MS = 1_000;
/** Within a second, deliveries are released in parts this often: not all at once. */
const TICK_MS = 50;
/** How many deliveries of each second are looked at for their outcome. */
const SAMPLE_SIZE = 10;

/** Dependencies of releases. */
export interface ReleaseSources extends WaitingSources {
  search: Pick<RowSearch, 'waiting' | 'some'>;
}

/**
 * Releases what waits for an endpoint, oldest first. It begins slowly, and the endpoint's responses say how it goes on
 * ({@link nextReleaseRate}). If the endpoint fails again, it rests. After enough failures the endpoint's incident
 * closes the endpoint, and what is left waits for its probes; after fewer nobody else would attempt it, so that the
 * release goes on, slowly.
 */
export async function releaseBacklog(
  { client, search, taskQueue }: ReleaseSources,
  endpoint: EndpointKey,
  options: ReleaseOptions,
  { release_rest_ms }: Timings = TIMINGS,
): Promise<ReleaseResult> {
  let rate = Math.min(options.firstRate, options.maxRate);
  const statuses = options.retries ? (['parked', 'retrying'] as const) : (['parked'] as const);
  const listed = await listWaiting(search, endpoint, statuses, taskQueue, () => options.onProgress(rate));
  // Deliveries that wait for others in their order do not wait for the endpoint, unless that is gone.
  const isAll = !listed.some(({ isInOrder }) => isInOrder) || (await options.endpoint()) === 'gone';
  const waiting = listed.filter(({ isInOrder }) => isAll || !isInOrder);
  let released = 0;
  let direct = false;
  let restUntil = 0;
  const giveWay = new GiveWay();
  while (released < waiting.length) {
    const state = await options.endpoint();
    if (state === 'closed') return { released, stopped: true };
    if (state === 'gone') rate = options.maxRate;
    else if (sharedNow() < restUntil) {
      await delay(Math.min(restUntil - sharedNow(), SECOND_MS));
      options.onProgress(rate);
      continue;
    }
    const began = sharedNow();
    const count = Math.max(Math.floor(rate), 1);
    const next = waiting.slice(released, released + count);
    const now = await releaseWithinASecond(client, next, endpoint.endpoint_id, direct, giveWay);
    released += now.length;
    options.onProgress(rate);
    if (released === waiting.length) break;
    await delay(Math.max(began + (count / rate) * SECOND_MS - sharedNow(), 0));
    if (state === 'gone') continue;
    const sample = await sampleOutcomes(search, someOf(now));
    rate = nextReleaseRate(rate, sample, options.maxRate);
    if (failsAgain(sample)) restUntil = sharedNow() + release_rest_ms;
    direct = answersWell(sample);
  }
  return { released, stopped: false };
}

/**
 * Spreads signals over a second. Signals to one group are sent together, so that the group is woken once. `p-throttle`
 * has a fixed rate: it neither takes a new one each second nor rests after a slow call.
 *
 * @returns what was released: not all, if it had to give way to others
 */
async function releaseWithinASecond(
  client: Client,
  deliveries: readonly WaitingDelivery[],
  endpointId: string,
  direct: boolean,
  giveWay: GiveWay,
): Promise<WaitingDelivery[]> {
  const units = toUnits(deliveries);
  let began = performance.now();
  const end = began + SECOND_MS + TICK_MS;
  let sent = 0;
  while (sent < units.length && performance.now() < end) {
    const now = performance.now();
    const share = Math.min((now - began + TICK_MS) / SECOND_MS, 1);
    const due = units.slice(sent, Math.max(Math.ceil(units.length * share), sent + 1));
    await Promise.all(due.map((unit) => release(client, unit, endpointId, direct)));
    sent += due.length;
    const restMs = giveWay.restAfter(performance.now() - now);
    // Releases skipped during a rest are not caught up.
    began += restMs;
    await delay(sent < units.length ? TICK_MS + restMs : restMs);
  }
  return units.slice(0, sent).flat();
}

/**
 * Some of those that were released in the first half of a second, spread evenly: later ones have had little time for an
 * answer.
 */
function someOf(deliveries: readonly WaitingDelivery[]): WaitingDelivery[] {
  const early = deliveries.slice(0, Math.ceil(deliveries.length / 2));
  const step = Math.max(early.length / SAMPLE_SIZE, 1);
  return early.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** How releases are started. */
export interface ReleaseStart extends Pick<ReleaseSources, 'client' | 'taskQueue'> {
  /** Parked deliveries of an endpoint that are woken each second, at most. */
  releasePerSecond: number;
  timings?: Timings;
}

/**
 * Starts the release of what waits for an endpoint, because it takes deliveries again or is gone. A release that is
 * under way runs once more when it has ended, because deliveries may have been parked behind it.
 *
 * @param retries whether deliveries that wait for a retry go along with those that are parked
 */
export async function startRelease(
  { client, taskQueue, releasePerSecond: per_second, timings = TIMINGS }: ReleaseStart,
  { account_id, endpoint_id, host }: NamedEndpoint,
  retries: boolean,
): Promise<void> {
  await client.workflow.signalWithStart<typeof releaseParked, [ReleaseScope]>('releaseParked', {
    workflowId: releaseWorkflowId(account_id, endpoint_id),
    taskQueue,
    args: [{ account_id, endpoint_id, per_second, retries, ...timingsOfInput(timings) }],
    signal: releaseAgain,
    signalArgs: [{ retries }],
    staticSummary: endpointSummary('release', { account_id, endpoint_id, host }),
    typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
  });
}
