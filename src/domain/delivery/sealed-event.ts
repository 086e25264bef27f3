import { KEY_TOKEN_PREFIX } from '../event/key-token.js';
import { keyIdOf } from '../privacy/data-key.js';
import type { PayloadContext, PayloadSealer } from '../privacy/payload-sealer.js';
import type { AcceptedEvent } from './delivery.js';
import type { StorableEvent } from './stored-event.js';

/** Characters of a key's id in a mark. */
const MARK_LENGTH = 7;

/** Where an event's payload belongs. */
export function contextOf({
  account_id,
  event_id,
}: Pick<AcceptedEvent, 'account_id' | 'event_id'>): PayloadContext {
  return { accountId: account_id, eventId: event_id };
}

/**
 * Stands for a subject's key in events and rows, so that the deliveries of a subject are found. Key ids are
 * random: once the key is gone, the mark says nothing about anybody.
 */
export function subjectMark(keyId: string): string {
  return KEY_TOKEN_PREFIX + keyId.slice(0, MARK_LENGTH);
}

/** Whether a token in an event's keys is {@link subjectMark}, and not that of a business key. */
export function isSubjectMark(token: string): boolean {
  return token.length === KEY_TOKEN_PREFIX.length + MARK_LENGTH;
}

/**
 * Seals an event.
 *
 * @param subject token of the person that the event is about
 */
export async function storableEvent(
  sealer: PayloadSealer,
  event: AcceptedEvent,
  subject: string | undefined,
): Promise<StorableEvent> {
  const { payload, keys = [] } = event;
  const { sealed, commitment } = await sealer.sealCommitted({ ...contextOf(event), subject }, payload);
  const payload_bytes = Buffer.byteLength(payload);
  const isMarked = sealer.encrypts && subject !== undefined;
  const marked = isMarked ? { ...event, keys: [...keys, subjectMark(keyIdOf(sealed))] } : event;
  return { event: marked, sealed, commitment, payload_bytes };
}
