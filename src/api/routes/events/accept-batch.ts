import type { Owner } from '../../../domain/access/owner.js';
import { newId } from '../../../domain/basics/ids.js';
import { zip } from '../../../domain/basics/objects.js';
import type { KeptEvent } from '../../../domain/delivery/stored-event.js';
import { type InputError, Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';
import {
  type CheckedEvent,
  checkEvent,
  type EventRequest,
  type NumberedOffer,
  numberEvent,
  requireSame,
  settling,
} from './accept-event.js';

/** Deliveries of all events that are accepted together or not at all. */
const MAX_BATCH_DELIVERIES = 10_000;

/** The outcome for one of several events: it is stored, or the error for which it is not. */
export type BatchOutcome = { checked: CheckedEvent; kept: KeptEvent } | { error: unknown };

/** Accepts each of some events, or refuses it, by itself; in their order. */
export async function acceptEach(
  dependencies: ApiDependencies,
  owner: Owner,
  requests: readonly EventRequest[],
): Promise<BatchOutcome[]> {
  const checked = await checkAll(dependencies, owner, requests);
  const numbered = await Promise.allSettled(
    checked.map(async (one) => {
      if ('error' in one) throw one.error;
      return { checked: one, numbered: await numberEvent(dependencies, owner, one) };
    }),
  );
  const fresh = inIdOrder(numbered.flatMap((one) => (one.status === 'fulfilled' ? one.value.numbered : [])));
  const stored = zip(fresh, dependencies.starter.intake.acceptEach(fresh.map(({ offer }) => offer)));
  const outcomes = numbered.map(async (one): Promise<BatchOutcome> => {
    if (one.status === 'rejected') return { error: one.reason };
    const [offered, accepted] = stored.shift() as (typeof stored)[number];
    try {
      const [kept] = await settling([offered], async () => [await accepted]);
      return { checked: one.value.checked, kept: requireSame(one.value.checked, kept as KeptEvent) };
    } catch (error) {
      return { error };
    }
  });
  return Promise.all(outcomes);
}

/**
 * Accepts all of some events, or none.
 *
 * @throws Problem that names every event for which none is accepted
 */
export async function acceptTogether(
  dependencies: ApiDependencies,
  owner: Owner,
  requests: readonly EventRequest[],
): Promise<BatchOutcome[]> {
  const { database, starter } = dependencies;
  const keys = requests.flatMap(({ idempotencyKey }) => idempotencyKey ?? []);
  if (new Set(keys).size < keys.length)
    throw invalidRequest([{ pointer: '/events', detail: 'must have a different idempotency_key each' }]);
  const checked = allOrThrow(await checkAll(dependencies, owner, requests));
  const deliveries = checked.reduce((sum, { targets }) => sum + targets.length, 0);
  if (deliveries > MAX_BATCH_DELIVERIES)
    throw invalidRequest([
      {
        pointer: '/events',
        detail: `must have at most ${MAX_BATCH_DELIVERIES} deliveries together; these have ${deliveries}`,
      },
    ]);
  const before = await database.events.keptBefore(owner.account, keys);
  const outcomes = checked.map((one) => {
    const kept = one.once && before.get(one.once.key);
    return attempt(() => ({ checked: one, kept: kept && requireSame(one, kept) }));
  });
  const known = allOrThrow(outcomes);
  // The process that stored them may have died before they had their places.
  await starter.intake.placed(before.values());
  const fresh = inIdOrder(
    await Promise.all(
      known.flatMap(({ checked: one, kept }) => (kept ? [] : numberEvent(dependencies, owner, one))),
    ),
  );
  const stored = [
    ...(await settling(fresh, () => starter.intake.acceptTogether(fresh.map(({ offer }) => offer)))),
  ];
  return known.map(({ checked: one, kept }) =>
    attempt(() => ({ checked: one, kept: requireSame(one, kept ?? (stored.shift() as KeptEvent)) })),
  );
}

/**
 * Names events again, so that their ids sort as they are listed: the feed goes by ids, and so does whoever starts them
 * after a crash. All ids are of one time: the feed puts behind the others what it hears of too late, all or nothing.
 */
function inIdOrder(numbered: readonly NumberedOffer[]): NumberedOffer[] {
  const now = sharedNow();
  const accepted_at = new Date(now).toISOString();
  const ids = numbered.map(() => newId('event', now)).sort();
  return zip(numbered, ids).map(([{ taken, offer }, event_id]) => ({
    ...{ taken, offer: { ...offer, event: { ...offer.event, event_id, accepted_at } } },
  }));
}

/** Checks events one after the other: what an account sends at once takes turns with what others send. */
async function checkAll(
  dependencies: ApiDependencies,
  owner: Owner,
  requests: readonly EventRequest[],
): Promise<(CheckedEvent | { error: unknown })[]> {
  const checked: (CheckedEvent | { error: unknown })[] = [];
  for (const request of requests)
    checked.push(await checkEvent(dependencies, owner, request).catch((error: unknown) => ({ error })));
  return checked;
}

function attempt<T>(make: () => T): T | { error: unknown } {
  try {
    return make();
  } catch (error) {
    return { error };
  }
}

/** @throws Problem of the first event that has one, with the places of all; or an error that is none */
function allOrThrow<T extends object>(all: readonly (T | { error: unknown })[]): T[] {
  const failed = all.flatMap((one, index) => ('error' in one ? [{ index, error: one.error }] : []));
  const [first] = failed;
  if (!first) return all as T[];
  const other = failed.find(({ error }) => !(error instanceof Problem));
  if (other) throw other.error;
  const problems = failed as { index: number; error: Problem }[];
  const { code, message, headers } = first.error as Problem;
  throw new Problem(code, `No event was accepted. Event ${first.index}: ${message}`, {
    errors: problems.flatMap(({ index, error }) => placesIn(error, index)),
    headers,
  });
}

/** Names of headers as fields of an event. */
const FIELDS: Partial<Record<string, string>> = { 'Hookline-Endpoints': 'endpoint_ids' };

/** The wrong places of an event, within a body of several. */
export function placesIn({ code, errors, message }: Problem, index: number): InputError[] {
  const at = `/events/${index}`;
  if (code === 'idempotency_conflict')
    return [{ pointer: `${at}/idempotency_key`, detail: 'was used before' }];
  if (code === 'record_altered')
    return [{ pointer: `${at}/idempotency_key`, detail: `is taken: ${message}` }];
  if (errors.length === 0) return [{ pointer: `${at}/payload`, detail: `cannot be accepted: ${message}` }];
  return errors.map(({ pointer, parameter, detail }) => ({
    pointer: parameter === undefined ? `${at}/payload${pointer}` : `${at}/${FIELDS[parameter] ?? parameter}`,
    detail,
  }));
}
