import pLimit from 'p-limit';
import type { AccountRemoval, DeletionRequest } from '../../domain/access/account-deletion.js';
import type { DeliveryKey } from '../../domain/basics/delivery-id.js';
import type { Origin } from '../../domain/change/change.js';
import { FIRST_OPEN_POSITION } from '../../domain/records/stored.js';
import type { Database } from '../../models/database.js';
import { unlessStateConflicts } from '../../temporal/errors.js';
import type { Ledger } from './ledger.js';

/** Endpoints that are removed in one step. */
const ENDPOINTS_AT_ONCE = 50;
/** Deliveries on a page, and cancelled side by side. */
const PAGE_SIZE = 50;
const CANCELS_AT_ONCE = 10;

/** Steps of the deletion of an account. */
export function createAccountRemoval(
  database: Database,
  { control, replays, accountDeletions }: Ledger,
): AccountRemoval {
  const cancel = async ({ account_id, origin }: DeletionRequest, one: DeliveryKey): Promise<boolean> => {
    // If not, it has an attempt under way, or has just closed: the next search tells.
    const act = control.act('cancel', account_id, one, { by: origin.actor.id });
    return (await unlessStateConflicts(act)) !== undefined;
  };

  return {
    async endAccess({ account_id, origin: named, payloads }) {
      const origin = await database.privateInputs.originOf(named);
      const because: Origin = { ...origin, reason: 'The account is deleted.' };
      await database.accounts.beginDeletion(account_id, origin, payloads);
      for (const { id } of await database.replays.open(account_id))
        await unlessStateConflicts(replays.act('cancel', account_id, id, origin.actor.id));
      return endCredentials(database, account_id, because);
    },

    async removeEndpoints({ account_id, origin: named }) {
      const origin = await database.privateInputs.originOf(named);
      for (;;) {
        const endpoints = await database.endpoints.oldest(account_id, ENDPOINTS_AT_ONCE);
        const ids: string[] = [];
        for (const { id } of endpoints)
          if (await database.endpoints.delete(account_id, id, origin)) ids.push(id);
        // Somebody else may have deleted them meanwhile.
        if (ids.length > 0 || endpoints.length === 0) return ids;
      }
    },

    async endOpenDeliveries(request, cursor) {
      const range = { above: FIRST_OPEN_POSITION, below: cursor as string | undefined };
      const found = await database.records.deliveries(request.account_id, {}, range, PAGE_SIZE);
      const limit = pLimit(CANCELS_AT_ONCE);
      const ended = await Promise.all(found.map((one) => limit(() => cancel(request, one))));
      return {
        found: found.length,
        ended: ended.filter(Boolean).length,
        ...(found.length === PAGE_SIZE && { next: found.at(-1)?.position }),
      };
    },

    async erasePayloads({ account_id }) {
      // They can tell of an endpoint by an event, which would need a key again.
      await accountDeletions.endEndpointWorkflows(account_id);
      return database.dataKeys.eraseAll(account_id);
    },

    async finish({ account_id }, deletion) {
      await database.scheduled.removeAll(account_id);
      await database.feedConsumers.removeAll(account_id);
      await accountDeletions.endScheduled(account_id);
      await accountDeletions.endEndpointWorkflows(account_id);
      await database.accounts.endDeletion(account_id, deletion);
    },
  };
}

/** Ends all that gives access to an account. @returns how much there was */
async function endCredentials(database: Database, accountId: string, origin: Origin): Promise<number> {
  const { apiKeys, portalSessions, deskSessions, oauthClients, oauthRecords, logins, profiles } = database;
  let ended = await apiKeys.revokeAll(accountId, origin);
  ended += await portalSessions.revokeAll(accountId, origin);
  ended += await deskSessions.revokeAll(accountId, origin);
  await untilNone(oauthClients, accountId, async ({ id }) => {
    if (await oauthClients.delete(accountId, id, origin)) ended += 1;
    await oauthRecords.revokeAllOf('client', id);
  });
  // Profiles are personal data, and nobody can log in without one.
  await untilNone(profiles, accountId, async ({ profile, version }) => {
    if (await logins.delete(accountId, profile.id, origin)) ended += 1;
    await oauthRecords.revokeAllOf('profile', profile.id);
    await profiles.delete(accountId, profile.id, version, origin);
  });
  return ended;
}

async function untilNone<T>(
  of: { list(accountId: string, limit: number): Promise<readonly T[]> },
  accountId: string,
  remove: (one: T) => Promise<void>,
): Promise<void> {
  for (;;) {
    const some = await of.list(accountId, PAGE_SIZE);
    if (some.length === 0) return;
    for (const one of some) await remove(one);
  }
}
