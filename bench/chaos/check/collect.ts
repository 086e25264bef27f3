import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deliveryId, parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { verifyCertificate } from '../../../src/domain/log/certificate.js';
import { readMembers } from '../../../src/temporal/read/group-members.js';
import type { TemporalConnection } from '../../../src/temporal/server/connection.js';
import type { Answer } from '../world/client.js';
import type { World } from '../world/world.js';
import type { ActChange, Collected, DeliveryViews, EventViews, FullRow, Received, Row } from './collected.js';
import { Reader } from './reader.js';

const HOOKLINE = fileURLToPath(new URL('../../../bin/hookline.js', import.meta.url));

/** A change, as far as it is looked at. */
type ShownChange = Omit<ActChange, 'deliveryId'> & { resource: string };

/** Content of all views of all accounts. */
export type Views = Pick<Collected, 'deliveries' | 'events' | 'changes' | 'openInStats'>;

/**
 * Reads what all views say: lists, exports and Temporal's list of everything; each delivery by itself, its timeline,
 * `explain`, its certificate and its event where something happened to it, and of a sample of the others.
 *
 * @param sample so many deliveries to which nothing happened are read by themselves as well
 */
export async function collectViews(
  world: World,
  temporal: TemporalConnection,
  sample: number,
  progress: (line: string) => void,
): Promise<Views> {
  const reader = new Reader(world);
  const logKey = (await reader.get(undefined, '/v18.0/log/key')).text.trim();
  const deliveries = new Map<string, DeliveryViews>();
  const events = new Map<string, EventViews>();
  const openInStats: Record<string, number> = {};
  const changes: ActChange[] = [];
  const acted = new Set<string>();
  const deliveryOf = (id: string, accountId: string) => {
    const found = deliveries.get(id);
    if (found) return found;
    const { event_id: eventId = '', endpoint_id: endpointId = '' } = parseDeliveryId(id) ?? {};
    const made: DeliveryViews = { id, accountId, eventId, endpointId, executions: [] };
    deliveries.set(id, made);
    return made;
  };
  const eventOf = (id: string, accountId: string) => {
    const made = events.get(id) ?? { id, accountId, isListed: false };
    events.set(id, made);
    return made;
  };

  for (const { id: account } of world.accounts) {
    for (const row of await reader.all<Row>(account, '/v18.0/deliveries'))
      deliveryOf(row.id, account).listed = row;
    for (const { id } of await reader.all<{ id: string }>(account, '/v18.0/events'))
      eventOf(id, account).isListed = true;
    for (const line of await reader.exported(account)) {
      if (line['type'] === 'event') {
        const payload = line['payload'] as { order_id?: string } | null;
        eventOf(String(line['id']), account).exported = {
          isErased: payload === null,
          ...(payload?.order_id !== undefined && { orderId: payload.order_id }),
        };
      } else if (line['type'] === 'delivery') {
        const row = line['delivery'] as FullRow;
        deliveryOf(row.id, account).exported = row;
      }
    }
    for (const change of await reader.all<ShownChange>(account, '/v18.0/changes')) {
      const [kind, id = ''] = change.resource.split(':');
      if (kind !== 'delivery') continue;
      const { action, at, outcome } = change;
      changes.push({ deliveryId: id, action, at, ...(outcome !== undefined && { outcome }) });
      acted.add(id);
    }
    openInStats[account] = (await reader.get(account, '/v18.0/stats')).json?.open?.deliveries ?? -1;
  }
  for await (const execution of temporal.client.workflow.list({ query: inLedger(world), pageSize: 1_000 })) {
    const account = new Map(world.accounts.map(({ endpointIds, id }) => [id, new Set(endpointIds)]));
    for (const key of await readMembers(temporal.client, execution)) {
      const owner = [...account].find(([, endpointIds]) => endpointIds.has(key.endpoint_id))?.[0] ?? '';
      const { workflowId, runId, status } = execution;
      const isOpen = status.name === 'RUNNING';
      deliveryOf(deliveryId(key), owner).executions.push({ workflowId, runId, isOpen });
    }
  }
  const chosen = choose([...deliveries.values()], world.receivers.received, acted, sample);
  const chosenEvents = new Set(chosen.map(({ eventId }) => eventId));
  progress(
    `${deliveries.size} deliveries of ${events.size} events are listed; reading ${chosen.length} by themselves`,
  );

  let read = 0;
  const tick = () => {
    read += 1;
    if (read % 1_000 === 0) progress(`${read} read`);
  };
  await Promise.all([
    ...chosen.map((views) => readDelivery(reader, views, logKey).then(tick)),
    ...[...events.values()]
      .filter(({ id, exported }) => chosenEvents.has(id) || exported === undefined || exported.isErased)
      .map((views) => readEvent(reader, views, deliveries).then(tick)),
  ]);
  return { deliveries: [...deliveries.values()], events: [...events.values()], changes, openInStats };
}

/** Deliveries with which anything was out of the ordinary, and some of the others, spread over all. */
function choose(
  deliveries: readonly DeliveryViews[],
  received: readonly Received[],
  acted: ReadonlySet<string>,
  sample: number,
): DeliveryViews[] {
  const requests = new Map<string, number>();
  for (const { eventId } of received) requests.set(eventId, (requests.get(eventId) ?? 0) + 1);
  const perEvent = new Map<string, number>();
  for (const { eventId } of deliveries) perEvent.set(eventId, (perEvent.get(eventId) ?? 0) + 1);
  const isOrdinary = ({ id, eventId, listed, exported, executions }: DeliveryViews) =>
    !acted.has(id) &&
    requests.get(eventId) === perEvent.get(eventId) &&
    exported?.attempts.length === 1 &&
    exported.status === 'delivered' &&
    exported.run_id === listed?.run_id &&
    executions.length === 1;
  const ordinary = deliveries.filter(isOrdinary);
  const step = Math.max(1, ordinary.length / sample);
  const some = new Set(ordinary.filter((_, index) => Math.floor(index % step) === 0).slice(0, sample));
  return deliveries.filter((views) => some.has(views) || !isOrdinary(views));
}

async function readDelivery(reader: Reader, views: DeliveryViews, logKey: string): Promise<void> {
  const { id, accountId, eventId, endpointId } = views;
  const get = (path: string) => reader.get(accountId, `/v18.0/${path}`);
  const [single, timeline, explained, certificate] = await Promise.all([
    get(`deliveries/${id}`),
    get(`deliveries/${id}/timeline`),
    get(`explain?endpoint_id=${endpointId}&event_id=${eventId}`),
    get(`deliveries/${id}/certificate`),
  ]);
  if (single.status === 200) views.single = single.json;
  if (timeline.status === 200) {
    const items = timeline.json.data as { type: string; at: string; status?: string }[];
    const end = items.findLast(({ status }) => status !== undefined);
    views.timeline = {
      attempts: items.filter(({ type }) => type === 'attempt').map(({ at }) => at),
      ...(end?.status !== undefined && { status: end.status }),
    };
  }
  if (explained.status === 200) {
    const { code, delivery } = explained.json;
    views.explained = { code, ...(delivery && { status: delivery.status, attempts: delivery.attempts }) };
  }
  views.certified = certified(certificate, id, logKey);
  views.isRead = true;
}

function certified({ status, text }: Answer, id: string, key: string): DeliveryViews['certified'] {
  if (status !== 200) return { problem: `answered ${status}: ${text.slice(0, 200)}` };
  try {
    const { record } = verifyCertificate(text, { key });
    if (record.delivery_id !== id) return { problem: `is of ${record.delivery_id}` };
    return { status: record.status ?? '', attempts: record.attempts?.length ?? 0 };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function readEvent(
  reader: Reader,
  views: EventViews,
  deliveries: Map<string, DeliveryViews>,
): Promise<void> {
  const { status, json } = await reader.get(views.accountId, `/v18.0/events/${views.id}`);
  if (status !== 200) {
    views.single = { status, isErased: false, deliveries: [] };
    return;
  }
  for (const row of json.deliveries as Row[]) {
    const found = deliveries.get(row.id);
    if (found) found.ofEvent = row;
  }
  views.single = {
    status,
    isErased: json.payload_erased === true,
    deliveries: json.deliveries.map(({ id }: Row) => id),
    ...(json.payload && { orderId: json.payload.order_id }),
  };
}

/** Executions of this run that stand for deliveries. */
function inLedger({ settings }: World): string {
  return `TaskQueue = '${settings.HOOKLINE_TASK_QUEUE}' AND HooklineStatus IS NOT NULL AND ExecutionStatus != 'ContinuedAsNew'`;
}

/**
 * Runs `hookline records verify`: it folds every history in Temporal.
 *
 * @returns its lines, if they tell of a difference
 */
export async function verifyRecords({ environment }: World): Promise<string[]> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
  try {
    await promisify(execFile)(process.execPath, [HOOKLINE, 'records', 'verify'], { env });
    return [];
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`.trim().split('\n');
  }
}
