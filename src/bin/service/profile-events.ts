import type { Logger } from 'pino';
import { valuesOf } from '../../../packages/payload-contract/src/index.js';
import { madeOnce } from '../../domain/basics/bounded-memory.js';
import type { Change } from '../../domain/change/change.js';
import { orderedRecipientsOf, recipientsOf } from '../../domain/delivery/recipients.js';
import { operationalEventId } from '../../domain/event/operational-event.js';
import { PROFILE_UPDATED, profileUpdate } from '../../domain/event/profile-updated.js';
import { recordedTime } from '../../domain/time/recorded-time.js';
import { hintsOf } from '../../temporal/write/accept/event-intake.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { warnUnlessOutage } from '../process/repeat.js';
import type { Servers } from './servers.js';

/**
 * Sends an event for each change of a profile, to the endpoints that are registered for `profile.updated`. Its id is
 * that of the change, so a change that is told of again makes the same event.
 */
export function emitProfileEvents({ database }: Servers, starter: DeliveryStarter, logger: Logger): void {
  const emitting = new Map<string, Promise<void>>();
  const warn = warnUnlessOutage(
    logger,
    'An event about a change of a profile could not be accepted. This is tried again in a minute.',
  );

  async function emit(account_id: string, change: Change): Promise<void> {
    const update = profileUpdate(change);
    if (!update || (await database.accounts.get(account_id))?.status !== 'active') return;
    const payload = JSON.stringify(update);
    const values = valuesOf(payload);
    // Not those that were registered after the change, as far as it was told of late.
    const endpoints = (await database.endpoints.all(account_id)).filter(
      ({ created_at }) => created_at <= change.at,
    );
    if (recipientsOf(endpoints, PROFILE_UPDATED, values).length === 0) return;
    const event_id = operationalEventId({ at: recordedTime(change.at), transition: change.id });
    if ((await database.events.stored([event_id])).size > 0) return;
    const { keySecrets, profiles } = database;
    const { profile_id } = update;
    // The profile was deleted meanwhile, or its subject was erased.
    if (!(await profiles.isUntold(account_id, profile_id, change.id))) return;
    const [subject, order] = await Promise.all([
      keySecrets.subjectToken(account_id, profile_id),
      keySecrets.orderToken(account_id, profile_id),
    ]);
    const event = { account_id, event_id, event_kind: PROFILE_UPDATED, payload, accepted_at: change.at };
    const targets = orderedRecipientsOf(endpoints, PROFILE_UPDATED, values, order);
    await starter.accept({ event, targets, hints: hintsOf(endpoints, subject) });
  }

  database.profiles.tellBy(async (accountId, changes) => {
    try {
      // In their order. This process does not accept a change twice that another caller is reporting.
      for (const change of changes)
        await madeOnce(emitting, change.id, () =>
          emit(accountId, change).finally(() => emitting.delete(change.id)),
        );
      return true;
    } catch (error) {
      warn(error);
      return false;
    }
  });
}
