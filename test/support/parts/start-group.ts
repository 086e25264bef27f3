import { randomBytes } from 'node:crypto';
import { createKeeper } from '../../../src/bin/service/ledger.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { AcceptedEvent } from '../../../src/domain/delivery/delivery.js';
import { storableEvent } from '../../../src/domain/delivery/sealed-event.js';
import type { HeldBack } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { KEY_TOKEN_PREFIX } from '../../../src/domain/event/key-token.js';
import { StartCalls } from '../../../src/temporal/write/start-calls.js';
import { type ApiClient, PURCHASE } from '../api-client.js';
import type { TestSystem } from '../system.js';

/**
 * Starts one group with a delivery to an endpoint for each event, as under load, whatever the load is.
 *
 * @param times when the events were accepted, milliseconds since the epoch: one event for each
 * @param change changes each event
 * @param held why the deliveries wait; absent: they do not
 * @param subject token of the person that the events are about
 */
export async function startGroup(
  {
    temporal,
    settings,
    sealer,
    database,
  }: Pick<TestSystem, 'temporal' | 'settings'> & Partial<Pick<TestSystem, 'sealer' | 'database'>>,
  { accountId }: Pick<ApiClient, 'accountId'>,
  endpointId: string,
  times: readonly number[],
  change: (event: AcceptedEvent) => Promise<AcceptedEvent> = async (event) => event,
  held?: HeldBack,
  subject?: string,
): Promise<{ groupId: string; events: AcceptedEvent[] }> {
  const calls = new StartCalls({
    client: temporal.client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    settings: {
      schedule: settings.HOOKLINE_RETRY_SCHEDULE,
      attempt_timeout_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT,
      park_limit_ms: settings.HOOKLINE_PARK_LIMIT,
    },
    earlyAttempts: undefined,
    rows: database && sealer ? createKeeper({ database, temporal, sealer }) : { keep: async () => new Set() },
  });
  const accepted = times.map((at) => ({
    account_id: accountId,
    event_id: newId('event', at),
    event_kind: 'purchase',
    payload: PURCHASE,
    accepted_at: new Date(at).toISOString(),
    // As large as the token of a business key.
    keys: [KEY_TOKEN_PREFIX + randomBytes(12).toString('base64url')],
  }));
  const events = await Promise.all(accepted.map(change));
  const groupId = newId('group');
  const placement = { isolated: held !== undefined, ...(held && { held }) };
  const target = { endpoint_id: endpointId };
  const pending = events.map((event) => ({ event, target, head: true, placement }));
  // Without a database the deliveries are read as executions alone.
  if (database && sealer)
    await database.events.insert(
      await Promise.all(
        events.map(async (event) => ({
          ...(await storableEvent(sealer, event, subject)),
          ...{ targets: [{ ...target, carrier: 0 }], carriers: [groupId], starter: 'a test' },
        })),
      ),
    );
  await calls.startGroup(pending, groupId);
  return { groupId, events };
}
