import { createHash } from 'node:crypto';
import { newId } from '../../../domain/basics/ids.js';
import { recipientsOf } from '../../../domain/delivery/recipients.js';
import { type BusinessKey, keysInPayload } from '../../../domain/event/business-keys.js';
import type { IdempotencyRecord } from '../../../models/event/idempotency.js';
import type { ApiDependencies } from '../../http/context.js';
import { findKind } from '../event-kinds/find-kind.js';
import { withIdempotency } from './with-idempotency.js';

/** An event that has been accepted: every delivery of it is persisted. */
export type Acceptance = Pick<IdempotencyRecord, 'event_id' | 'targets' | 'accepted_at'>;

/** What a producer may send along with an event. */
export interface AcceptOptions {
  /** A repeat with the same key, body and business keys gives the first acceptance again. */
  idempotencyKey?: string | undefined;
  /** Of the kind's schema; absent: the newest. */
  schemaVersion?: number | undefined;
  /** Business keys that are not in the body. */
  keys?: readonly BusinessKey[];
}

/**
 * Accepts an event: checks its payload, finds the endpoints that it goes to, and starts a delivery to each. It returns after
 * Temporal has persisted them all.
 *
 * @param kindName the event's kind
 * @param body the payload as received
 * @throws Problem 400 or 404 for what cannot be accepted, 409 for a key that was used with another body
 */
export async function acceptEvent(
  { database, starter, payloads }: Pick<ApiDependencies, 'database' | 'starter' | 'payloads'>,
  accountId: string,
  kindName: string,
  body: Buffer,
  { idempotencyKey, schemaVersion, keys: named = [] }: AcceptOptions = {},
): Promise<Acceptance> {
  const kind = await findKind(database, accountId, kindName, schemaVersion);
  const { text: payload, value } = await payloads.read(accountId, kind, body);
  const [endpoints, keys] = await Promise.all([
    database.endpoints.all(accountId),
    database.keySecrets.tokensOf(accountId, [...keysInPayload(kind.schema, value), ...named]),
  ]);
  const now = Date.now();
  const fresh: Acceptance = {
    event_id: newId('event', now),
    targets: recipientsOf(endpoints, kind.name, value),
    accepted_at: new Date(now).toISOString(),
  };
  const failing = new Map(endpoints.flatMap(({ id, failing }) => (failing ? [[id, failing]] : [])));
  const start = ({ event_id, targets, accepted_at }: Acceptance) => {
    const event = { account_id: accountId, event_id, event_kind: kind.name, payload, accepted_at };
    return starter.accept({ ...event, ...(keys.length > 0 && { keys }) }, targets, failing);
  };

  if (idempotencyKey === undefined) {
    await start(fresh);
    return fresh;
  }

  const hash = createHash('sha256').update(`${kind.name}\n`).update(body);
  if (named.length > 0) hash.update(`\n${JSON.stringify(named.map(({ name, value }) => [name, value]))}`);
  const body_hash = hash.digest('hex');
  return withIdempotency(database.idempotency, [accountId, idempotencyKey], { ...fresh, body_hash }, start);
}
