import type { ScheduledSender } from '../../../../activities/scheduled-sender.js';
import { valuesOf } from '../../../../packages/payload-contract/src/index.js';
import { orderedRecipientsOf } from '../../../domain/delivery/recipients.js';
import type { NumberSource } from '../../../domain/sequence/number-source.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ScheduledEvent } from '../../../models/event/scheduled-events.js';
import { LedgerBusyError } from '../../../temporal/errors.js';
import { hintsOf } from '../../../temporal/write/accept/event-intake.js';
import type { DeliveryStarter } from '../../../temporal/write/delivery-starter.js';
import type { Servers } from '../servers.js';

/** Sends scheduled events that are due: to the endpoints that are there then, with the retention that begins then. */
export function createScheduledSender(
  { database, sealer }: Pick<Servers, 'database' | 'sealer'>,
  starter: DeliveryStarter,
  numbers: NumberSource,
): ScheduledSender {
  return async ({ account_id, id }) => {
    const found = await database.scheduled.get(account_id, id);
    if (!found) return { is_missing: true };
    const wait_ms = found.due_at.getTime() - sharedNow();
    if (!found.event_id && wait_ms > 0) return { wait_ms };
    const claimed = await database.scheduled.claim(found);
    // It was changed in between.
    if (!claimed?.event_id) return { wait_ms: 1 };
    if ((await database.events.stored([claimed.event_id])).size === 0 && !(await send(claimed))) {
      await database.scheduled.remove(claimed);
      return {};
    }
    await database.scheduled.sent(claimed);
    return {};
  };

  /** @returns `false` if it cannot be sent any more: its account or its subject was erased */
  async function send(claimed: ScheduledEvent): Promise<boolean> {
    const { _id, account_id, event_id, event_kind, keys, subject, order_token, named_endpoints } = claimed;
    const { sealed, commitment } = claimed;
    const account = await database.accounts.get(account_id);
    const context = { accountId: account_id, eventId: _id };
    const payload = sealed && (await sealer.openCommitted(context, { sealed, commitment }));
    if (account?.status !== 'active' || typeof payload !== 'string') return false;
    const all = await database.endpoints.all(account_id);
    const endpoints = named_endpoints ? all.filter(({ id }) => named_endpoints.includes(id)) : all;
    const targets = orderedRecipientsOf(endpoints, event_kind, valuesOf(payload), order_token ?? undefined);
    const taken = await numbers.take(account_id);
    const event = {
      ...{ account_id, event_id: event_id ?? '', event_kind, payload, sequence: taken.number },
      accepted_at: new Date(sharedNow()).toISOString(),
      ...(keys && keys.length > 0 && { keys }),
      ...(named_endpoints && { named_endpoints }),
    };
    try {
      const kept = await starter.accept({ event, targets, hints: hintsOf(endpoints, subject ?? undefined) });
      // An insert whose end was not known has stored it, with the number that it had then.
      if (kept.sequence === taken.number) taken.used();
      else taken.unused();
      return true;
    } catch (error) {
      if (error instanceof LedgerBusyError) taken.unused();
      else taken.unsure();
      throw error;
    }
  }
}
