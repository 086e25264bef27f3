import {
  EVENT_KINDS,
  type EventKind,
  findEventKind,
  isEmitted,
  isReservedEventKindName,
} from '../../../domain/event/event-kinds.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Database } from '../../../models/database.js';

/**
 * The kind that an event is posted to: one that the account has added, or a built-in one. An account's own kind comes
 * first, because it may be older than a built-in one of the same name. A `purchase` costs no look-up: nobody can add
 * one.
 *
 * @param version of the schema; absent: the newest
 * @throws Problem 404 naming what there is
 */
export async function findKind(
  database: Database,
  accountId: string,
  name: string,
  version: number | undefined,
): Promise<EventKind> {
  const builtIn = findEventKind(name);
  if (builtIn?.emitted) throw await unknownKind(database, accountId);
  const stored = isReservedEventKindName(name) ? undefined : await database.eventKinds.get(accountId, name);
  if (!stored && !builtIn) throw await unknownKind(database, accountId);
  const versions = stored
    ? stored.versions.map((one) => ({ ...one, name, description: stored.description }))
    : [builtIn];
  const chosen = version === undefined ? versions.at(-1) : versions.find((one) => one?.version === version);
  if (chosen) return chosen;
  const detail = 'must be a version of the kind; absent for the newest';
  throw new Problem('unknown_event_kind', `The event kind ${name} has no version ${version} of its schema.`, {
    errors: [{ parameter: 'schema_version', detail }],
  });
}

/**
 * The newest schema of a kind that an account's events can have, emitted ones included; `undefined` if there is no
 * such kind any more.
 */
export async function newestSchema(
  { eventKinds }: Pick<Database, 'eventKinds'>,
  accountId: string,
  name: string,
): Promise<EventKind['schema'] | undefined> {
  const builtIn = findEventKind(name);
  const stored = isReservedEventKindName(name) ? undefined : await eventKinds.get(accountId, name);
  return stored?.versions.at(-1)?.schema ?? builtIn?.schema;
}

async function unknownKind(database: Database, accountId: string): Promise<Problem> {
  const names = await kindNames(database, accountId);
  const known = names.filter((name) => !isEmitted(name)).join(', ');
  return new Problem('unknown_event_kind', `There is no event kind of that name to post. Known: ${known}.`, {
    errors: [{ parameter: 'kind', detail: `must be one of: ${known}` }],
  });
}

/** Names of all kinds that an account's events can have. */
export async function kindNames(database: Database, accountId: string): Promise<string[]> {
  const own = await database.eventKinds.all(accountId);
  return [...new Set([...EVENT_KINDS, ...own].map(({ name }) => name))];
}
