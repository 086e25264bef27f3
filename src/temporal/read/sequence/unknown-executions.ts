import type { Client } from '@temporalio/client';
import { together } from '../../../domain/basics/bounded-memory.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { idTime } from '../../../domain/basics/id-time.js';
import {
  DELIVERY_TYPE,
  groupIn,
  parseDeliveryWorkflowId,
  parseFanOutWorkflowId,
} from '../../../domain/ledger/workflow-ids.js';
import type { NumberRange } from '../../../domain/sequence/ranges.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { EVERY_ACCOUNT, where } from '../visibility/query.js';
import { type Execution, everyExecution, listExecutions } from '../visibility/visibility.js';

/** Executions that are looked at: open ones, the latest first, and then the latest that have closed. */
const LATEST = 25;
/** Executions that are looked at together. */
const AT_ONCE = 100;
/** An event is kept for longer than this, whatever the settings are, milliseconds. */
const SURELY_KEPT_MS = 7 * UNITS.d;

/** An event waits for so long between its acceptance and the group at most, and a group for its start, milliseconds. */
const MAX_INSERTING_MS = 10_000;
const MAX_WAITING_MS = 10 * UNITS.m;

/** Events that MongoDB has. */
export interface StoredEvents {
  /** Those of the ids that are ids of stored events. */
  stored(ids: readonly string[]): Promise<Set<string>>;
  /** Those of the groups that are named by an event accepted in these periods. */
  carrying(periods: readonly NumberRange[], groupIds: readonly string[]): Promise<Set<string>>;
}

/**
 * An execution that makes deliveries of an event which MongoDB does not have, though events are kept before their
 * deliveries are started, and for weeks: MongoDB is older than Temporal.
 *
 * @param since only executions that were started later; absent: within a week
 */
export async function executionWithoutEvent(
  client: Client,
  taskQueue: string,
  events: StoredEvents,
  since: Date = new Date(0),
): Promise<Execution | undefined> {
  const keptSince = sharedNow() - SURELY_KEPT_MS;
  const startedAfter = new Date(Math.max(since.getTime(), keptSince));
  const latest = await listExecutions(client, startedSince(taskQueue, startedAfter), LATEST);
  const [first] = await withoutEvent(latest, events, keptSince);
  return first;
}

/** All of them that were started since a time. */
export async function* executionsWithoutEvent(
  client: Client,
  taskQueue: string,
  events: StoredEvents,
  since: Date,
): AsyncIterable<Execution> {
  const found = everyExecution(client, startedSince(taskQueue, since));
  for await (const some of together(found, AT_ONCE)) yield* await withoutEvent(some, events, since.getTime());
}

function startedSince(taskQueue: string, startedAfter: Date) {
  return where(EVERY_ACCOUNT, { taskQueue, type: [DELIVERY_TYPE, 'fanOutEvent'], startedAfter });
}

/** Those of some executions whose events are not there, of events that are kept. */
async function withoutEvent(
  executions: readonly Execution[],
  events: StoredEvents,
  keptSince: number,
): Promise<Execution[]> {
  const carried = executions.map((execution) => ({ execution, ...carriedBy(execution) }));
  const groups = carried.flatMap(({ groupId, execution }) => (groupId ? [{ groupId, execution }] : []));
  const [stored, carrying] = await Promise.all([
    events.stored(carried.flatMap(({ eventId }) => eventId ?? [])),
    events.carrying(
      groups.map(periodOf),
      groups.map(({ groupId }) => groupId),
    ),
  ]);
  const isKept = ({ eventId, groupId }: Carried) =>
    eventId === undefined
      ? groupId === undefined || carrying.has(groupId)
      : stored.has(eventId) || idTime(eventId) < keptSince;
  return carried.flatMap((one) => (isKept(one) ? [] : [one.execution]));
}

interface Carried {
  eventId?: string | undefined;
  groupId?: string | undefined;
}

/** When the first events of a group were accepted: it is named for them, and started soon after that. */
function periodOf({ groupId, execution }: { groupId: string; execution: Execution }): NumberRange {
  const at = idTime(groupId);
  const startedAt = Math.min(execution.startTime.getTime(), at + MAX_WAITING_MS);
  return { first: at - MAX_INSERTING_MS, last: Math.max(startedAt, at) + MAX_INSERTING_MS };
}

/** The event whose deliveries an execution makes, or the group that events name. */
function carriedBy({ workflowId }: Execution): Carried {
  const one = parseDeliveryWorkflowId(workflowId) ?? parseFanOutWorkflowId(workflowId);
  if (one) return { eventId: one.event_id };
  const groupId = groupIn(workflowId);
  return groupId?.startsWith('evt_') ? { eventId: groupId.split(':')[0] } : { groupId };
}
