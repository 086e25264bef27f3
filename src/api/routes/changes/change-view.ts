import { z } from 'zod';
import { ACTOR_TYPES, CHANGE_ACTIONS, CHANGE_OUTCOMES, type Change } from '../../../domain/change/change.js';
import type { Database } from '../../../models/database.js';
import type { Page } from '../../../temporal/read/visibility/visibility.js';
import { timeSchema as time } from '../../http/schemas.js';

const shown = z.record(z.string(), z.unknown()).optional();

export const changeSchema = z
  .object({
    id: z.string(),
    resource: z.string().describe('Kind and id, such as endpoint:ep_…; a login has the id of its profile'),
    version: z.int().optional().describe('Version of the resource after it; absent for deliveries'),
    action: z.enum(CHANGE_ACTIONS),
    outcome: z
      .enum(CHANGE_OUTCOMES)
      .describe(
        'done: it took effect; refused: it had no effect; unknown: an action on a delivery or a replay whose outcome is not known yet, as after a crash; it is looked up within minutes',
      ),
    at: time,
    actor: z
      .object({
        type: z.enum(ACTOR_TYPES),
        id: z
          .string()
          .describe(
            'key_…, client_…, ps_…, the subject of a person at the desk, operator, subscriber, incident, rotation or verification',
          ),
        name: z
          .string()
          .optional()
          .describe(
            "Name of the account's API key, OAuth client, portal session or person at the desk; absent for those of other accounts, and for deleted ones",
          ),
        person: z.string().optional().describe('The profile of the person for whom an OAuth client acted'),
        account_id: z
          .string()
          .optional()
          .describe("The actor's account, if it acted for this one: a platform, or the operator"),
      })
      .describe('Actor'),
    address: z.string().optional().describe('Address of the caller, or of the endpoint that responded'),
    request_id: z.string().optional().describe('The x-request-id of the request that did it'),
    reason: z.string().optional().describe('Why, as the actor gave it'),
    replay: z.string().optional().describe('The replay that did it for the actor'),
    caused_by: z
      .object({ delivery_id: z.string(), attempt: z.int() })
      .optional()
      .describe('The attempt that disabled an endpoint: it got 410, or was the last that failed'),
    changed: z
      .array(z.string())
      .describe(
        'JSON Pointers (RFC 6901) of the differences, secrets included, whose values are never shown',
      ),
    before: shown.describe('State before, without secrets; absent for a new resource, and for deliveries'),
    after: shown.describe('State after; absent for a deleted resource, and for deliveries'),
  })
  .meta({ id: 'Change' });

/**
 * A page of changes whose actors have the names that people know them by: tokens as they are now, people as
 * they had signed in.
 *
 * @param accountId names only what is this account's: what a platform or the operator calls its keys is nobody else's
 * business; absent: all, for the operator alone
 */
export async function withNames<T extends Change>(
  { holders, deskSessions }: Pick<Database, 'holders' | 'deskSessions'>,
  { data, ...page }: Page<T>,
  accountId?: string,
): Promise<Page<T>> {
  const isOfPerson = ({ actor }: Change) => actor.type === 'person';
  const acts = data.filter(isOfPerson).map(({ id, at, actor }) => ({ id, at, subject: actor.id }));
  const others = data.filter((change) => !isOfPerson(change)).map(({ actor }) => actor.id);
  const [people, names] = await Promise.all([
    deskSessions.namesOf(acts, accountId),
    holders.namesOf(others, accountId),
  ]);
  const nameIn = (change: Change) =>
    isOfPerson(change) ? people.get(change.id) : names.get(change.actor.id);
  const named = (change: T) => ({ ...change, actor: { ...change.actor, name: nameIn(change) } });
  return { ...page, data: data.map(named) };
}
