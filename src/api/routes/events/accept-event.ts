import { newId } from '../../../domain/basics/ids.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import { recipientsOf } from '../../../domain/delivery/recipients.js';
import { type BusinessKey, keysInPayload } from '../../../domain/event/business-keys.js';
import { subjectInPayload } from '../../../domain/event/subject.js';
import { valuesOf } from '../../../domain/event/values/values-of.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { TakenNumber } from '../../../domain/sequence/number-source.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { IdempotencyRecord } from '../../../models/event/idempotency.js';
import { LedgerBusyError } from '../../../temporal/errors.js';
import type { EventHints } from '../../../temporal/write/delivery-starter.js';
import type { ApiDependencies } from '../../http/context.js';
import type { Owner } from '../../payloads/fair-queue.js';
import { findKind } from '../event-kinds/find-kind.js';
import { withIdempotency } from './with-idempotency.js';

/** An event that has been accepted: every delivery of it is persisted. */
export type Acceptance = Pick<IdempotencyRecord, 'event_id' | 'targets' | 'accepted_at' | 'sequence'>;

/** What a producer may send along with an event. */
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
  traceparent: string | undefined;
  /** Told the id that an event without an idempotency key is about to be started under. */
  onNamed: (eventId: string) => void;
}

/**
 * Accepts an event: checks its payload, finds the endpoints that it goes to, and starts a delivery to each. It returns
 * after Temporal has persisted them all.
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
  { idempotencyKey, schemaVersion, keys: named, subject: person, traceparent, onNamed }: AcceptOptions,
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
  const taken = await numbers.take(accountId);
  const now = sharedNow();
  const fresh: Acceptance = {
    event_id: newId('event', now),
    targets: payloads.counted(owner, () => recipientsOf(endpoints, kind.name, values)),
    accepted_at: new Date(now).toISOString(),
    sequence: taken.number,
  };
  const hints: EventHints = {
    subject,
    failing: new Map(endpoints.flatMap(({ id, failing }) => (failing ? [[id, failing]] : []))),
    hostOf: (endpointId) => hostOf(endpoints.find(({ id }) => id === endpointId)?.target_url),
  };
  const eventOf = ({ event_id, accepted_at, sequence }: Acceptance): AcceptedEvent => ({
    account_id: accountId,
    event_id,
    event_kind: kind.name,
    payload,
    accepted_at,
    sequence,
    traceparent,
    ...(keys.length > 0 && { keys }),
  });

  if (idempotencyKey === undefined) {
    onNamed(fresh.event_id);
    return settling(taken, fresh.event_id, false, async () => {
      await starter.accept(eventOf(fresh), fresh.targets, hints);
      return fresh;
    });
  }

  const said = [
    Buffer.from(`${kind.name}\n`),
    body,
    Buffer.from(`\n${JSON.stringify([named.map(({ name, value }) => [name, value]), person])}`),
  ];
  return settling(taken, fresh.event_id, true, async () => {
    const body_hash = await sealer.hash({ accountId, subject }, 'idempotency', Buffer.concat(said));
    const groups = starter.nextGroups();
    const claim: IdempotencyRecord = { ...fresh, body_hash, ...(groups && { groups }) };
    const withGroups = (record: IdempotencyRecord) => ({ ...hints, groups: record.groups ?? undefined });
    return withIdempotency(database.idempotency, [accountId, idempotencyKey], claim, {
      first: (record) => starter.accept(eventOf(record), record.targets, withGroups(record)),
      again: (record) => starter.acceptAgain(eventOf(record), record.targets, withGroups(record)),
    });
  });
}

/**
 * Says what became of an event's number.
 *
 * @param eventId of the event that it was taken for; if another one is accepted in its place, its request was repeated
 * @param isClaimed whether the number may stand in an idempotency record, so that a repeat of the request uses it
 */
async function settling(
  taken: TakenNumber,
  eventId: string,
  isClaimed: boolean,
  accept: () => Promise<Acceptance>,
): Promise<Acceptance> {
  try {
    const accepted = await accept();
    if (accepted.event_id === eventId) taken.used();
    else taken.unused();
    return accepted;
  } catch (error) {
    // A key that was used with another body, or no room: nothing was accepted. Of anything else it is not known what
    // came of it.
    if (error instanceof Problem || (!isClaimed && error instanceof LedgerBusyError)) taken.unused();
    else taken.unsure();
    throw error;
  }
}
