import type { Client } from '@temporalio/client';
import type { deliver } from '../../../workflows/index.js';
import { release as releaseSignal } from '../../../workflows/messages.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import type { LiveGroup, Release } from '../../domain/delivery/delivery-group.js';
import { MAX_PROBED_ATTEMPTS } from '../../domain/delivery/delivery-state.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { MOST_RELEASES_IN_A_ROW, type ReleaseSample } from '../../domain/endpoint/release.js';
import { DELIVERY_TYPE, isGroup } from '../../domain/ledger/workflow-ids.js';
import type { RowSearch } from '../../domain/records/row-search.js';
import type { ListedDelivery } from '../../domain/records/stored.js';
import { factsIn, summaryIn } from '../../domain/records/stored-views.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { startedNow, unlessGone } from '../errors.js';

/** Rows that are read at once. */
const PAGE_SIZE = 500;
/** Rows that are read at once for one to probe with. */
const PROBED_OF = 100;

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
  /** It waits for another one in its order. */
  isInOrder?: true;
  /** How many attempts it had when it was listed. */
  attempts: number;
}

/** Dependencies by which waiting deliveries are found and notified. */
export interface WaitingSources {
  client: Client;
  search: Pick<RowSearch, 'waiting'>;
  taskQueue: string;
}

/** Waiting deliveries of one execution, which are released by one signal. */
export type ReleaseUnit = readonly [WaitingDelivery, ...WaitingDelivery[]];

/** `parked`: waits for the endpoint; `retrying`: waits for its next attempt. */
type WaitingStatus = 'parked' | 'retrying';

/**
 * The waiting deliveries of an endpoint, those of the oldest events first.
 *
 * @param taskQueue of executions that may not have begun
 * @param onProgress called after each page
 */
export async function listWaiting(
  rows: Pick<RowSearch, 'waiting'>,
  endpoint: EndpointKey,
  statuses: readonly WaitingStatus[],
  taskQueue: string,
  onProgress: () => void,
): Promise<WaitingDelivery[]> {
  const waiting: WaitingDelivery[] = [];
  for await (const page of pagesOf(rows, endpoint, statuses, taskQueue, PAGE_SIZE)) {
    waiting.push(...page);
    onProgress();
  }
  return waiting;
}

/** The oldest of an endpoint's waiting deliveries that can be probed with. @param size rows that are read at once */
export async function findOldest(
  rows: Pick<RowSearch, 'waiting'>,
  endpoint: EndpointKey,
  status: WaitingStatus,
  taskQueue: string,
  size = PROBED_OF,
): Promise<WaitingDelivery | undefined> {
  for await (const page of pagesOf(rows, endpoint, [status], taskQueue, size)) {
    const found = page.find(
      ({ attempts, isPaused, isInOrder }) => !isPaused && !isInOrder && attempts < MAX_PROBED_ATTEMPTS,
    );
    if (found) return found;
  }
  return undefined;
}

/** An endpoint's waiting deliveries in pages, those of the oldest events first. */
async function* pagesOf(
  rows: Pick<RowSearch, 'waiting'>,
  endpoint: EndpointKey,
  statuses: readonly WaitingStatus[],
  taskQueue: string,
  size: number,
): AsyncIterable<WaitingDelivery[]> {
  for (let after: string | undefined; ; ) {
    const page = await rows.waiting(endpoint, statuses, after, size);
    yield page.map((row) => toWaiting(row, taskQueue));
    if (page.length < size) return;
    after = page.at(-1)?.position;
  }
}

function toWaiting(row: ListedDelivery, taskQueue: string): WaitingDelivery {
  const { paused, in_order, last_attempt } = factsIn(row);
  const { workflow_id, started_at } = summaryIn(row);
  return {
    ...{ id: row.id, accountId: row.account_id, workflowId: workflow_id, startedAt: started_at },
    attempts: last_attempt?.number ?? 0,
    ...(paused && { isPaused: true }),
    ...(in_order && { isInOrder: true }),
    // Its execution waits from its start on, and has told nothing itself.
    ...(row.turn === 0 && { begins: taskQueue }),
  };
}

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

/** Has one delivery attempted, which has waited for another one in its order, or for its endpoint. */
export async function wakeWaiting(client: Client, delivery: DeliveryKey, workflowId: string): Promise<void> {
  // By an activity: a task that ends its execution is repeated if another signal comes meanwhile, with its attempt.
  const what = { endpoint_id: delivery.endpoint_id, delivery: deliveryId(delivery) };
  await unlessGone(client.workflow.getHandle(workflowId).signal(releaseSignal, what));
}

/**
 * Has the oldest parked delivery of an endpoint attempted, or one of the oldest, to see whether the endpoint answers
 * again; if none is parked, one that waits for a retry. Nothing else of it changes.
 */
export async function probeOldest(
  { client, search, taskQueue }: WaitingSources,
  endpoint: EndpointKey,
): Promise<void> {
  const oldest =
    (await findOldest(search, endpoint, 'parked', taskQueue)) ??
    (await findOldest(search, endpoint, 'retrying', taskQueue));
  if (oldest) await notify(client, [oldest], { endpoint_id: endpoint.endpoint_id, probe: true });
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

/** The results of released deliveries, as far as their rows tell them. */
export async function sampleOutcomes(
  rows: Pick<RowSearch, 'some'>,
  released: readonly WaitingDelivery[],
): Promise<ReleaseSample> {
  const [first] = released;
  const sample: ReleaseSample = { delivered: 0, failed: 0, undecided: 0 };
  if (!first) return sample;
  const ids = released.map(({ id }) => id);
  const now = await rows.some(first.accountId, ids);
  for (const before of released) {
    const outcome = outcomeOf(before, now.get(before.id));
    if (outcome) sample[outcome] += 1;
  }
  return sample;
}

/** @returns `undefined` for what says nothing about the endpoint */
function outcomeOf(
  before: WaitingDelivery,
  row: ListedDelivery | undefined,
): keyof ReleaseSample | undefined {
  if (!row || row.status === 'cancelled' || row.status === 'terminated') return undefined;
  if (row.status === 'delivered') return 'delivered';
  if (row.status === 'exhausted' || row.status === 'expired') return 'failed';
  return (factsIn(row).last_attempt?.number ?? 0) > before.attempts ? 'failed' : 'undecided';
}
