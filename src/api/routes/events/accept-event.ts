import type { Owner } from '../../../domain/access/owner-turns.js';
import { newId } from '../../../domain/basics/ids.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import { recipientsOf } from '../../../domain/delivery/recipients.js';
import type { KeptEvent } from '../../../domain/delivery/stored-event.js';
import { type BusinessKey, keysInPayload } from '../../../domain/event/business-keys.js';
import { subjectInPayload } from '../../../domain/event/subject.js';
import { valuesOf } from '../../../domain/event/values/values-of.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { TakenNumber } from '../../../domain/sequence/number-source.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { TraceHeaders } from '../../../domain/trace/trace-context.js';
import { LedgerBusyError } from '../../../temporal/errors.js';
import type { EventHints } from '../../../temporal/write/accept/event-intake.js';
import type { ApiDependencies } from '../../http/context.js';
import { findKind } from '../event-kinds/find-kind.js';

/** An event that has been accepted: it is stored. */
export type Acceptance = Pick<KeptEvent, 'event_id' | 'targets' | 'accepted_at' | 'sequence'>;

/** Options that a producer may send along with an event. */
export interface AcceptOptions {
  /** A repeat with the same key, body and business keys gives the first acceptance again. */
  idempotencyKey: string | undefined;
  /** Of the kind's schema; absent: the newest. */
  schemaVersion: number | undefined;
  /** Business keys that are not in the body. */
  keys: readonly BusinessKey[];
  /** The person that it is about, if the body does not say so, or names another one. */
  subject: string | undefined;
  /** The request's, if it is traced. */
  trace: TraceHeaders | undefined;
  /** Told the id that an event without an idempotency key is about to be stored under. */
  onNamed: (eventId: string) => void;
}

/**
 * Accepts an event: checks its payload, finds the endpoints that it goes to, and stores it with them. Its deliveries
 * are started after that, whatever becomes of this process.
 *
 * @param kindName the event's kind
 * @param body the payload as received
 * @throws Problem 400 or 404 for what cannot be accepted, 409 for a key that was used with another body
 */
export async function acceptEvent(
  { database, starter, payloads, sealer, numbers }: ApiDependencies,
  owner: Owner,
  kindName: string,
  body: Buffer,
  { idempotencyKey, schemaVersion, keys: named, subject: person, trace, onNamed }: AcceptOptions,
): Promise<Acceptance> {
  const { account: accountId } = owner;
  const kind = await findKind(database, accountId, kindName, schemaVersion);
  const { text: payload, value } = await payloads.read(owner, kind, body);
  const values = valuesOf(payload, value);
  const [about, marked] = payloads.counted(owner, () => [
    person ?? subjectInPayload(kind.schema, values),
    keysInPayload(kind.schema, values),
  ]);
  const [endpoints, keys, subject] = await Promise.all([
    database.endpoints.all(accountId),
    database.keySecrets.tokensOf(accountId, [...marked, ...named]),
    about === undefined ? undefined : database.keySecrets.subjectToken(accountId, about),
  ]);
  const said = [
    Buffer.from(`${kind.name}\n`),
    body,
    Buffer.from(`\n${JSON.stringify([named.map(({ name, value }) => [name, value]), person])}`),
  ];
  const once = idempotencyKey !== undefined && {
    key: idempotencyKey,
    body_hash: await sealer.hash({ accountId, subject }, 'idempotency', Buffer.concat(said)),
  };
  const taken = await numbers.take(accountId);
  const now = sharedNow();
  const event: AcceptedEvent = {
    account_id: accountId,
    event_id: newId('event', now),
    event_kind: kind.name,
    payload,
    accepted_at: new Date(now).toISOString(),
    sequence: taken.number,
    ...trace,
    ...(keys.length > 0 && { keys }),
  };
  const hints: EventHints = {
    subject,
    failing: new Map(endpoints.flatMap(({ id, failing }) => (failing ? [[id, failing]] : []))),
    hostOf: (endpointId) => hostOf(endpoints.find(({ id }) => id === endpointId)?.target_url),
  };
  const targets = payloads.counted(owner, () => recipientsOf(endpoints, kind.name, values));
  if (!once) onNamed(event.event_id);
  const accepted = await settling(taken, event.event_id, () =>
    starter.accept({ event, targets, hints, ...(once && { once }) }),
  );
  if (once && accepted.body_hash !== once.body_hash)
    throw new Problem(
      'idempotency_conflict',
      'The Idempotency-Key was used before with another body, or for an event that has been erased since. Use a new key for a new event.',
    );
  return accepted;
}

/**
 * Says what became of an event's number.
 *
 * @param eventId of the event that it was taken for; if another one is accepted in its place, its request was repeated
 */
async function settling(
  taken: TakenNumber,
  eventId: string,
  accept: () => Promise<KeptEvent>,
): Promise<KeptEvent> {
  try {
    const accepted = await accept();
    if (accepted.event_id === eventId) taken.used();
    else taken.unused();
    return accepted;
  } catch (error) {
    // No room: nothing was stored. Of anything else it is not known what came of it.
    if (error instanceof LedgerBusyError) taken.unused();
    else taken.unsure();
    throw error;
  }
}
