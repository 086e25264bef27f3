import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { deliver } from '../../../workflows/index.js';
import { release as releaseSignal } from '../../../workflows/messages.js';
import type { LiveGroup, Release } from '../../domain/delivery/delivery-group.js';
import { MAX_PROBED_ATTEMPTS } from '../../domain/delivery/delivery-machine.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { MOST_RELEASES_IN_A_ROW, type ReleaseSample } from '../../domain/endpoint/release.js';
import { DELIVERY_TYPE, isGroup } from '../../domain/ledger/workflow-ids.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { startedNow, unlessGone } from '../errors.js';
import { deliveriesOf, startedAt } from '../read/delivery-view.js';
import { hasStatus, where } from '../read/visibility/clauses.js';
import { type Clause, isAfter, isBefore } from '../read/visibility/query.js';
import { describeExecution, everyExecution } from '../read/visibility/visibility.js';

/** A page is decoded at once: of groups, in a few milliseconds. */
const PAGE_SIZE = 100;
/**
 * Executions that are read in a row: a group's deliveries are made from its memo. Then others have their turn for as
 * long as that took.
 */
const IN_A_ROW = 10;
/**
 * But no longer than this, milliseconds: if it took long because Temporal is busy, the processor was free meanwhile.
 */
const LONGEST_REST_MS = 50;
/** Executions in which something waits that are looked at for the oldest. */
const FEW = 10;
/** The first seconds of an incident that are looked at, milliseconds; then twice as many. */
const FIRST_WIDTH_MS = 1_000;

/** A delivery that waits: for its endpoint, or for its next attempt. */
export interface WaitingDelivery {
  id: string;
  accountId: string;
  workflowId: string;
  /** The task queue of a group that waits from its start, and may not have begun. */
  begins?: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Somebody paused it. */
  isPaused?: true;
  /** How many attempts it had when it was listed; not known of a member of a group. */
  attempts?: number;
}

/** Waiting deliveries of one execution, which are released by one signal. */
export type ReleaseUnit = readonly [WaitingDelivery, ...WaitingDelivery[]];

/** `parked`: waits for the endpoint; `retrying`: waits for its next attempt. */
type WaitingStatus = 'parked' | 'retrying';

/**
 * The waiting deliveries of an endpoint, oldest first. SQL visibility cannot sort, so all of them are read.
 *
 * @param onProgress called after each execution
 */
export async function listWaiting(
  client: Client,
  endpoint: EndpointKey,
  statuses: readonly WaitingStatus[],
  onProgress: () => void,
): Promise<WaitingDelivery[]> {
  const waiting: WaitingDelivery[] = [];
  for await (const found of readWaiting(client, endpoint, statuses, PAGE_SIZE)) {
    waiting.push(...found);
    onProgress();
  }
  return waiting.sort(byAge);
}

/**
 * The oldest of an endpoint's waiting deliveries that can be probed with, or of a large backlog one of the oldest:
 * visibility lists the latest first, so it is asked for those of the first seconds.
 *
 * @param since when the endpoint began to fail
 */
export async function findOldest(
  client: Client,
  endpoint: EndpointKey,
  status: WaitingStatus,
  since: Date,
): Promise<WaitingDelivery | undefined> {
  const few = async (...when: Clause[]) => {
    const found: WaitingDelivery[][] = [];
    for await (const all of readWaiting(client, endpoint, [status], FEW, when)) {
      const waiting = all.filter(
        ({ attempts, isPaused }) => !isPaused && (attempts ?? 0) < MAX_PROBED_ATTEMPTS,
      );
      if (waiting.length > 0) found.push(waiting);
      if (found.length === FEW) break;
    }
    return { oldest: found.flat().sort(byAge)[0], isAll: found.length < FEW };
  };
  const latest = await few();
  if (latest.isAll) return latest.oldest;
  const { oldest } = await few(isBefore('StartTime', since));
  if (oldest) return oldest;
  const age = sharedNow() - since.getTime();
  for (let width = FIRST_WIDTH_MS; width < age; width *= 2) {
    const end = new Date(since.getTime() + width);
    const { oldest } = await few(isAfter('StartTime', since), isBefore('StartTime', end));
    if (oldest) return oldest;
  }
  return latest.oldest;
}

/**
 * What waits for an endpoint in each execution that may have such: nothing, if of a group only what is for others
 * waits.
 */
async function* readWaiting(
  client: Client,
  { account_id, endpoint_id }: EndpointKey,
  statuses: readonly WaitingStatus[],
  pageSize: number,
  when: readonly Clause[] = [],
): AsyncIterable<WaitingDelivery[]> {
  const ofEndpoint = where(account_id, { type: DELIVERY_TYPE, endpoint: endpoint_id });
  const clauses = [...ofEndpoint, hasStatus(statuses), ...when];
  let read = 0;
  let began = performance.now();
  for await (const execution of everyExecution(client, clauses, pageSize)) {
    const { workflowId, executionTime = execution.startTime, taskQueue } = execution;
    const wasDelayed = executionTime > execution.startTime;
    const waiting: WaitingDelivery[] = [];
    const common = { accountId: account_id, workflowId, startedAt: startedAt(execution) };
    const rows = deliveriesOf(execution, account_id).filter(
      ({ summary }) => summary.endpoint_id === endpoint_id,
    );
    // A group releases its parked deliveries first.
    for (const status of statuses)
      for (const { summary, state } of rows)
        if (summary.status === status)
          waiting.push({
            ...common,
            id: summary.id,
            ...(state?.paused && { isPaused: true }),
            ...(state?.attempts !== undefined && { attempts: state.attempts }),
            ...(wasDelayed && { begins: taskQueue }),
          });
    yield waiting;
    read += 1;
    if (read % IN_A_ROW > 0) continue;
    await delay(Math.min(performance.now() - began, LONGEST_REST_MS));
    began = performance.now();
  }
}

const byAge = (a: WaitingDelivery, b: WaitingDelivery) =>
  compare(a.startedAt, b.startedAt) || compare(a.workflowId, b.workflowId);
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Neighbours in one execution are released by one signal. */
export function toUnits(deliveries: readonly WaitingDelivery[]): ReleaseUnit[] {
  const units: [WaitingDelivery, ...WaitingDelivery[]][] = [];
  for (const delivery of deliveries) {
    const last = units.at(-1);
    if (last && last[0].workflowId === delivery.workflowId) last.push(delivery);
    else units.push([delivery]);
  }
  return units;
}

/**
 * Notifies deliveries that their endpoint takes deliveries again, or is gone. Those that have closed since are skipped.
 *
 * @param direct the endpoint answers well: deliveries of groups are attempted in the direct lane, where each execution
 * takes a workflow task
 */
export async function release(
  client: Client,
  unit: ReleaseUnit,
  endpointId: string,
  direct = false,
): Promise<void> {
  const isDirect = direct && isGroup(unit[0].workflowId);
  await notify(client, unit, {
    endpoint_id: endpointId,
    ...(isDirect && { direct: true, sent_at: sharedNow() }),
  });
}

/** Has a waiting delivery attempted to see whether its endpoint answers again. Nothing else of it changes. */
export async function probe(client: Client, waiting: WaitingDelivery, endpointId: string): Promise<void> {
  await notify(client, [waiting], { endpoint_id: endpointId, probe: true });
}

async function notify(client: Client, unit: ReleaseUnit, what: Release): Promise<void> {
  const [{ workflowId, begins }] = unit;
  const some: Release = { ...what, limit: unit.length, most: MOST_RELEASES_IN_A_ROW };
  if (begins === undefined)
    await unlessGone(client.workflow.getHandle(workflowId).signal(releaseSignal, some));
  else await unlessGone(startedNow(beginEarly(client, workflowId, begins, some)));
}

/**
 * Releases deliveries of a group that may not have begun. A signal alone does not end a start delay, a signal with a
 * start does (https://docs.temporal.io/workflow-execution/timers-delays#delay-workflow-execution). Nothing is started:
 * the group is there.
 */
async function beginEarly(
  client: Client,
  workflowId: string,
  taskQueue: string,
  some: Release,
): Promise<void> {
  const nothing: LiveGroup = {
    events: [],
    deliveries: [],
    schedule: [],
    attempt_timeout_ms: 0,
    park_limit_ms: 0,
  };
  await client.workflow.signalWithStart<typeof deliver, [Release]>(DELIVERY_TYPE, {
    workflowId,
    taskQueue,
    args: [nothing],
    signal: releaseSignal,
    signalArgs: [some],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

/** The results of released deliveries. */
export async function sampleOutcomes(
  client: Client,
  released: readonly WaitingDelivery[],
): Promise<ReleaseSample> {
  const outcomes = (await Promise.all(toUnits(released).map((unit) => outcomesOf(client, unit)))).flat();
  const count = (outcome: keyof ReleaseSample) => outcomes.filter((one) => one === outcome).length;
  return { delivered: count('delivered'), failed: count('failed'), undecided: count('undecided') };
}

async function outcomesOf(client: Client, unit: ReleaseUnit): Promise<(keyof ReleaseSample | 'cancelled')[]> {
  const [{ accountId, workflowId }] = unit;
  const execution = await describeExecution(client, workflowId);
  const rows = execution ? deliveriesOf(execution, accountId) : [];
  return unit.map(({ id, attempts }) => {
    const row = rows.find(({ summary }) => summary.id === id);
    const status = row?.summary.status ?? 'cancelled';
    if (status === 'delivered' || status === 'cancelled') return status;
    // That says nothing about the endpoint either.
    if (status === 'terminated') return 'cancelled';
    if (status === 'exhausted' || status === 'expired') return 'failed';
    // Lists do not say how often a member of a group was attempted. The endpoint itself shows that it fails again.
    if (attempts === undefined || row?.state?.attempts === undefined) return 'undecided';
    return row.state.attempts > attempts ? 'failed' : 'undecided';
  });
}
