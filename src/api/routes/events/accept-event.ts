import { valuesOf } from '../../../../packages/payload-contract/src/index.js';
import type { Owner } from '../../../domain/access/owner.js';
import { newId } from '../../../domain/basics/ids.js';
import type { DeliveryTarget } from '../../../domain/delivery/delivery.js';
import { orderedRecipientsOf } from '../../../domain/delivery/recipients.js';
import type { KeptEvent, Once } from '../../../domain/delivery/stored-event.js';
import { type BusinessKey, keysInPayload } from '../../../domain/event/business-keys.js';
import { orderKeyInPayload } from '../../../domain/event/order-key.js';
import { subjectInPayload } from '../../../domain/event/subject.js';
import { Problem } from '../../../domain/http/problem.js';
import type { TakenNumber } from '../../../domain/sequence/number-source.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { TraceHeaders } from '../../../domain/trace/trace-context.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import { LedgerBusyError } from '../../../temporal/errors.js';
import { type EventHints, hintsOf, type Offer } from '../../../temporal/write/accept/event-intake.js';
import type { ApiDependencies } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';
import { findKind } from '../event-kinds/find-kind.js';

/** Parts that events are accepted with. */
export type IntakeDependencies = Pick<
  ApiDependencies,
  'database' | 'payloads' | 'sealer' | 'numbers' | 'starter'
>;

/** An event that has been accepted: it is stored. */
export type Acceptance = Pick<KeptEvent, 'event_id' | 'targets' | 'accepted_at' | 'sequence'>;

/** An event as a producer sends it. */
export interface EventRequest {
  kind: string;
  /** The payload as received. */
  body: Buffer;
  /** A repeat with the same key, body and business keys gives the first acceptance again. */
  idempotencyKey?: string | undefined;
  /** Version of the kind's schema; absent: the newest. */
  schemaVersion?: number | undefined;
  /** Business keys that are not in the body. */
  keys: readonly BusinessKey[];
  /** The person that it is about, if the body does not say so, or names another one. */
  subject?: string | undefined;
  /** Key that it is delivered in order by, if the body does not say so, or another one is meant. */
  orderKey?: string | undefined;
  /** The only endpoints that may get it; absent: all that match do. */
  endpointIds?: readonly string[] | undefined;
  /** The request's, if it is traced. */
  trace?: TraceHeaders | undefined;
}

/** An event that can be accepted. */
export interface CheckedEvent {
  kind: string;
  payload: string;
  targets: readonly DeliveryTarget[];
  /** Tokens of its business keys. */
  keys: string[];
  /** Token of its order key. */
  orderToken: string | undefined;
  once: Once | undefined;
  hints: EventHints;
  request: EventRequest;
}

/** An event that is about to be stored, with its number. */
export interface NumberedOffer {
  offer: Offer;
  taken: TakenNumber;
}

/**
 * Accepts an event: checks its payload, finds the endpoints that it goes to, and stores it with them. Its deliveries
 * are started after that, whatever becomes of this process.
 *
 * @param onNamed told the id that an event without an idempotency key is about to be stored under
 * @throws Problem 400 or 404 for what cannot be accepted, 409 for a key that was used with another body
 */
export async function acceptEvent(
  dependencies: IntakeDependencies,
  owner: Owner,
  request: EventRequest,
  onNamed: (eventId: string) => void,
): Promise<Acceptance> {
  return storeEvent(dependencies, owner, await checkEvent(dependencies, owner, request), onNamed);
}

/** Numbers and stores a checked event. @throws Problem 409 as {@link requireSame} */
export async function storeEvent(
  dependencies: IntakeDependencies,
  owner: Owner,
  checked: CheckedEvent,
  onNamed: (eventId: string) => void = () => {},
): Promise<KeptEvent> {
  const numbered = await numberEvent(dependencies, owner, checked);
  if (!checked.once) onNamed(numbered.offer.event.event_id);
  const [kept] = await settling([numbered], async () => [await dependencies.starter.accept(numbered.offer)]);
  return requireSame(checked, kept as KeptEvent);
}

/** Checks an event, and finds the endpoints that it goes to. @throws Problem 400 or 404 if it cannot be accepted */
export async function checkEvent(
  { database, payloads, sealer }: IntakeDependencies,
  owner: Owner,
  request: EventRequest,
): Promise<CheckedEvent> {
  const { account: accountId } = owner;
  const { body, idempotencyKey, keys: named, subject: person, orderKey, endpointIds } = request;
  const kind = await findKind(database, accountId, request.kind, request.schemaVersion);
  const { text: payload, value } = await payloads.read(owner, kind, body);
  const values = valuesOf(payload, value);
  const about = person ?? subjectInPayload(kind.schema, values);
  const marked = keysInPayload(kind.schema, values);
  const order = orderKey ?? orderKeyInPayload(kind.schema, values);
  const [endpoints, keys, subject, token] = await Promise.all([
    endpointsOf(database, accountId, endpointIds),
    database.keySecrets.tokensOf(accountId, [...marked, ...named]),
    about === undefined ? undefined : database.keySecrets.subjectToken(accountId, about),
    order === undefined ? undefined : database.keySecrets.orderToken(accountId, order),
  ]);
  const headers = [
    named.map(({ name, value }) => [name, value]),
    person,
    ...(endpointIds ? [endpointIds] : []),
    ...(orderKey === undefined ? [] : [{ order_key: orderKey }]),
  ];
  const said = [Buffer.from(`${kind.name}\n`), body, Buffer.from(`\n${JSON.stringify(headers)}`)];
  const once = idempotencyKey !== undefined && {
    key: idempotencyKey,
    body_hash: await sealer.hash({ accountId, subject }, 'idempotency', Buffer.concat(said)),
  };
  return {
    kind: kind.name,
    payload,
    targets: orderedRecipientsOf(endpoints, kind.name, values, token),
    keys,
    orderToken: token,
    once: once || undefined,
    hints: hintsOf(endpoints, subject),
    request,
  };
}

/** The endpoints of an account that may get an event. @throws Problem 400 that names those that the account lacks */
async function endpointsOf(
  { endpoints }: Pick<ApiDependencies['database'], 'endpoints'>,
  accountId: string,
  ids: readonly string[] | undefined,
): Promise<StoredEndpoint[]> {
  const all = await endpoints.all(accountId);
  if (!ids) return all;
  const known = new Map(all.map((endpoint) => [endpoint.id, endpoint]));
  // Another process may have made one a moment ago.
  const found = await Promise.all(ids.map((id) => known.get(id) ?? endpoints.getFresh(accountId, id)));
  const unknown = ids.filter((_, index) => !found[index]);
  if (unknown.length > 0)
    throw invalidRequest([
      { parameter: 'Hookline-Endpoints', detail: `names no endpoint of the account: ${unknown.join(', ')}` },
    ]);
  return found.filter((endpoint) => endpoint !== undefined);
}

/** Gives a checked event its id and its number. */
export async function numberEvent(
  { numbers }: Pick<ApiDependencies, 'numbers'>,
  { account }: Owner,
  { kind, payload, keys, once, targets, hints, request: { trace, endpointIds } }: CheckedEvent,
): Promise<NumberedOffer> {
  const taken = await numbers.take(account);
  const now = sharedNow();
  const event = {
    account_id: account,
    event_id: newId('event', now),
    event_kind: kind,
    payload,
    accepted_at: new Date(now).toISOString(),
    sequence: taken.number,
    ...trace,
    ...(keys.length > 0 && { keys }),
    ...(endpointIds && { named_endpoints: endpointIds }),
  };
  return { taken, offer: { event, targets, hints, ...(once && { once }) } };
}

/**
 * @throws Problem 409 if the idempotency key of an event was used before with another body
 * @throws RecordAlteredError if somebody has altered the event that has the key
 */
export function requireSame({ once }: Pick<CheckedEvent, 'once'>, accepted: KeptEvent): KeptEvent {
  if (accepted.altered) throw accepted.altered;
  if (once && accepted.body_hash !== once.body_hash)
    throw new Problem(
      'idempotency_conflict',
      'The Idempotency-Key was used before with another body, or for an event that has been erased since. Use a new key for a new event.',
    );
  return accepted;
}

/**
 * Says what became of the numbers of events that are stored together. If another event is accepted in the place of one,
 * its request was repeated.
 */
export async function settling(
  events: readonly NumberedOffer[],
  accept: () => Promise<readonly KeptEvent[]>,
): Promise<readonly KeptEvent[]> {
  try {
    const accepted = await accept();
    for (const [index, { offer, taken }] of events.entries())
      if (accepted[index]?.event_id === offer.event.event_id) taken.used();
      else taken.unused();
    return accepted;
  } catch (error) {
    // No room: nothing was stored. The outcome of all other failures is unknown.
    for (const { taken } of events)
      if (error instanceof LedgerBusyError) taken.unused();
      else taken.unsure();
    throw error;
  }
}
