import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { verifyCertificate } from '../../../src/domain/log/certificate.js';
import { everyDeliveryOf } from '../../../src/temporal/read/delivery-view.js';
import type { TemporalConnection } from '../../../src/temporal/server/connection.js';
import type { Answer } from '../world/client.js';
import type { World } from '../world/world.js';
import type { Collected, DeliveryViews, EventViews, FullRow, Row } from './collected.js';
import { Reader } from './reader.js';

const HOOKLINE = fileURLToPath(new URL('../../../bin/hookline.js', import.meta.url));

/** What all views say of all accounts. */
export type Views = Pick<Collected, 'deliveries' | 'events' | 'openInStats'>;

/** Reads every view of every delivery and event. */
export async function collectViews(
  world: World,
  temporal: TemporalConnection,
  progress: (line: string) => void,
): Promise<Views> {
  const reader = new Reader(world);
  const logKey = (await reader.get(undefined, '/v18.0/log/key')).text.trim();
  const deliveries = new Map<string, DeliveryViews>();
  const events = new Map<string, EventViews>();
  const openInStats: Record<string, number> = {};
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
    openInStats[account] = (await reader.get(account, '/v18.0/stats')).json?.open?.deliveries ?? -1;
  }
  for await (const execution of temporal.client.workflow.list({ query: inLedger(world), pageSize: 1_000 })) {
    const account = new Map(world.accounts.map(({ endpointIds, id }) => [id, new Set(endpointIds)]));
    for (const { summary } of everyDeliveryOf(execution)) {
      const owner = [...account].find(([, endpointIds]) => endpointIds.has(summary.endpoint_id))?.[0] ?? '';
      deliveryOf(summary.id, owner).executions.push({
        workflowId: execution.workflowId,
        runId: execution.runId,
        status: summary.status,
      });
    }
  }
  progress(`${deliveries.size} deliveries of ${events.size} events are listed; reading each of them`);

  let read = 0;
  const tick = () => {
    read += 1;
    if (read % 1_000 === 0) progress(`${read} read`);
  };
  await Promise.all([
    ...[...deliveries.values()].map((views) => readDelivery(reader, views, logKey).then(tick)),
    ...[...events.values()].map((views) => readEvent(reader, views, deliveries).then(tick)),
  ]);
  return { deliveries: [...deliveries.values()], events: [...events.values()], openInStats };
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
    const items = timeline.json.data as { type: string; status?: string }[];
    const end = items.findLast(({ status }) => status !== undefined);
    views.timeline = {
      attempts: items.filter(({ type }) => type === 'attempt').length,
      ...(end?.status !== undefined && { status: end.status }),
    };
  }
  if (explained.status === 200) {
    const { code, delivery } = explained.json;
    views.explained = { code, ...(delivery && { status: delivery.status, attempts: delivery.attempts }) };
  }
  views.certified = certified(certificate, id, logKey);
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

/** Runs `hookline archive verify`: it folds every history in Temporal. @returns its lines, if they tell of a difference */
export async function verifyArchive({ environment }: World): Promise<string[]> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
  try {
    await promisify(execFile)(process.execPath, [HOOKLINE, 'archive', 'verify'], { env });
    return [];
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`.trim().split('\n');
  }
}
