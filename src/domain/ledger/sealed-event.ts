import type { AcceptedEvent } from '../delivery/delivery.js';
import { KEY_TOKEN_PREFIX } from '../event/key-token.js';
import { commitTo, keyIdOf } from '../privacy/data-key.js';
import type { PayloadContext, PayloadSealer } from '../privacy/payload-sealer.js';

/**
 * Characters of a key's id in a mark: with 60 of them and 60 business keys a group's search attribute is still within
 * its limit.
 */
const MARK_LENGTH = 7;

/** Where an event's payload belongs. */
export function contextOf({
  account_id,
  event_id,
}: Pick<AcceptedEvent, 'account_id' | 'event_id'>): PayloadContext {
  return { accountId: account_id, eventId: event_id };
}

/**
 * What stands for a subject's key in search attributes, beside the tokens of business keys, so that the open deliveries
 * of a subject are found. Key ids are random: once the key is gone, the mark says nothing about anybody.
 */
export function subjectMark(keyId: string): string {
  return KEY_TOKEN_PREFIX + keyId.slice(0, MARK_LENGTH);
}

/** Whether a token in an event's keys is {@link subjectMark}, and not that of a business key. */
export function isSubjectMark(token: string): boolean {
  return token.length === KEY_TOKEN_PREFIX.length + MARK_LENGTH;
}

/** An event with what is stored of it. */
export interface StorableEvent {
  /** As it goes into inputs of workflows: with its payload sealed, if the installation encrypts. */
  event: AcceptedEvent;
  /** The payload as it is stored, which names its data key. */
  sealed: string;
  /** To the payload. */
  commitment: string;
  payload_bytes: number;
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
  const context = contextOf(event);
  const sealed = await sealer.seal({ ...context, subject }, payload);
  const salt = await sealer.salt(context, sealed);
  // The key was erased a moment ago: the event is about the same subject.
  if (!salt) return storableEvent(sealer, event, subject);
  const commitment = commitTo(salt, payload);
  const payload_bytes = Buffer.byteLength(payload);
  const known = { sealed, commitment, payload_bytes };
  if (!sealer.encrypts) return { event, ...known };
  return {
    ...known,
    event: {
      ...event,
      payload: sealed,
      sealed: { commitment, bytes: payload_bytes },
      ...(subject !== undefined && { keys: [...keys, subjectMark(keyIdOf(sealed))] }),
    },
  };
}

/** The payload of an event; `undefined` if its key was erased. */
export async function openEvent(sealer: PayloadSealer, event: AcceptedEvent): Promise<string | undefined> {
  return event.sealed ? sealer.open(contextOf(event), event.payload) : event.payload;
}

/** Size of an event's payload, bytes. It is known also when the payload was erased. */
export function payloadBytes({ sealed, payload }: Pick<AcceptedEvent, 'sealed' | 'payload'>): number {
  return sealed?.bytes ?? Buffer.byteLength(payload);
}
