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

/**
 * An event as it goes into inputs of workflows: with its payload sealed, if the installation encrypts.
 *
 * @param subject token of the person that the event is about
 */
export async function sealEvent(
  sealer: PayloadSealer,
  event: AcceptedEvent,
  subject: string | undefined,
): Promise<AcceptedEvent> {
  const { payload, keys = [] } = event;
  if (!sealer.encrypts) return event;
  const context = contextOf(event);
  const text = await sealer.seal({ ...context, subject }, payload);
  const salt = await sealer.salt(context, text);
  // The key was erased a moment ago: the event is about the same subject.
  if (!salt) return sealEvent(sealer, event, subject);
  return {
    ...event,
    payload: text,
    sealed: { commitment: commitTo(salt, payload), bytes: Buffer.byteLength(payload) },
    ...(subject !== undefined && { keys: [...keys, subjectMark(keyIdOf(text))] }),
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
