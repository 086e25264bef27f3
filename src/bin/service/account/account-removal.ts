import pLimit from 'p-limit';
import type { AccountRemoval, DeletionRequest } from '../../../domain/access/account-deletion.js';
import type { Origin } from '../../../domain/change/change.js';
import { MAX_REPLAY_RATE, type ReplayItem, type ReplayPlan } from '../../../domain/replay/replay.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import type { Database } from '../../../models/database.js';
import { unlessStateConflicts } from '../../../temporal/errors.js';
import { findForReplay } from '../../../temporal/read/replay/replay-finder.js';
import type { ReplayCursor } from '../../../temporal/read/replay/replay-page.js';
import type { Ledger } from '../ledger.js';

/** Endpoints that are removed in one step. */
const ENDPOINTS_AT_ONCE = 50;
/** Deliveries on a page, and cancelled side by side. */
const PAGE_SIZE = 50;
const CANCELS_AT_ONCE = 10;
/** Open replays that are looked for. */
const MAX_REPLAYS = 100;

/** What the deletion of an account does. */
export function createAccountRemoval(
  database: Database,
  { control, replays, replayReader, replaySources, accountDeletions }: Ledger,
): AccountRemoval {
  const cancel = async ({ account_id, origin }: DeletionRequest, item: ReplayItem): Promise<boolean> => {
    // If not, it has an attempt under way, or has just closed: the next search tells.
    const act = control.act('cancel', account_id, item, { by: origin.actor.id });
    return (await unlessStateConflicts(act)) !== undefined;
  };

  return {
    async endAccess({ account_id, origin, payloads }) {
      const because: Origin = { ...origin, reason: 'The account is deleted.' };
      await database.accounts.beginDeletion(account_id, origin, payloads);
      for (const id of await replayReader.openIds(account_id, MAX_REPLAYS))
        await unlessStateConflicts(replays.act('cancel', account_id, id, origin.actor.id));
      return endCredentials(database, account_id, because);
    },

    async removeEndpoints({ account_id, origin }) {
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
      const { account_id } = request;
      const account = await database.accounts.get(account_id);
      const plan = openDeliveries(request, account?.created_at ?? new Date(0).toISOString());
      const options = { size: PAGE_SIZE };
      const page = await findForReplay(replaySources, plan, cursor as ReplayCursor | undefined, options);
      const limit = pLimit(CANCELS_AT_ONCE);
      const ended = await Promise.all(page.found.map(({ item }) => limit(() => cancel(request, item))));
      return {
        found: page.found.length,
        ended: ended.filter(Boolean).length,
        ...(page.next && { next: page.next }),
      };
    },

    async erasePayloads({ account_id }) {
      // They can tell of an endpoint by an event, which would need a key again.
      await accountDeletions.endEndpointWorkflows(account_id);
      return database.dataKeys.eraseAll(account_id);
    },

    async finish({ account_id }, deletion) {
      await accountDeletions.endEndpointWorkflows(account_id);
      await database.accounts.endDeletion(account_id, deletion);
    },
  };
}

/** Every delivery of an account that is open now, in the form in which replays look for deliveries. */
function openDeliveries({ account_id, origin }: DeletionRequest, since: string): ReplayPlan {
  const at = sharedDate().toISOString();
  const filter = { created_after: since, created_before: at };
  return { account_id, replay_id: '', action: 'cancel', filter, at, rate: MAX_REPLAY_RATE, origin };
}

/** Ends all that gives access to an account. @returns how much there was */
async function endCredentials(database: Database, accountId: string, origin: Origin): Promise<number> {
  const { apiKeys, portalSessions, oauthClients, oauthRecords, logins, profiles } = database;
  let ended = await apiKeys.revokeAll(accountId, origin);
  ended += await portalSessions.revokeAll(accountId, origin);
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
