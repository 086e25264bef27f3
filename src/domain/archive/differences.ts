import { changedPointers } from '../change/change.js';
import type { TimelineItem } from '../explain/timeline.js';
import { isSubjectMark } from '../ledger/sealed-event.js';
import { keyIdOf } from '../privacy/data-key.js';
import type { ArchivedDelivery, ArchivedEvent } from './archived.js';
import { type ClosedDelivery, canonicalJson, type DeliveryRecord, deliveryRecord } from './record.js';
import type { DeliveryToArchive, EventToArchive } from './to-archive.js';

/**
 * What differs between a delivery in the ledger and in the archive: JSON Pointers of fields of what is archived. None,
 * if they are the same.
 *
 * @param archived without detail, if its key was erased: then what is left of it is compared
 */
export function differencesOf(held: DeliveryToArchive, archived: ArchivedDelivery): string[] {
  const { closed, detail, timeline, summary, ...rest } = held;
  const known = parseRecord(archived.record);
  if (!known) return ['/record'];
  const record = recordOf(closed, archived, known);
  const parsed = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));
  const compared = (one: Omit<ArchivedDelivery, 'revision' | 'record'>, text: string) => {
    const { id: _, position: __, ...fields } = one;
    return {
      ...fields,
      // Marks of subjects are kept with events alone.
      keys: one.keys.filter((key) => !isSubjectMark(key)),
      accepted_at: one.accepted_at.toISOString(),
      record: parsed(text),
      summary: parsed(one.summary),
      detail: parsed(one.detail),
      timeline: withoutIncidents(parsed(one.timeline)),
    };
  };
  const isErased = archived.detail === undefined && JSON.parse(detail ?? '{}').payload_erased === true;
  const kept = isErased ? {} : { detail, timeline };
  const { revision: _, record: text, ...inArchive } = archived;
  const before = compared({ ...rest, summary, ...kept }, record);
  const after = compared(inArchive, text);
  const pointers = changedPointers(before, after);
  // Canonical texts are the same to the byte, or the log's leaf is not of this record.
  if (pointers.length === 0 && record !== text) return ['/record'];
  return pointers;
}

/**
 * What a delivery says in the ledger, and its archived record does not: JSON Pointers of fields of the record.
 *
 * @param held of the run that is archived
 */
export function recordDifferences(held: ClosedDelivery, archived: ArchivedDelivery): string[] {
  const known = parseRecord(archived.record);
  if (!known) return ['/record'];
  const record = recordOf(held, archived, known);
  if (record === archived.record) return [];
  const pointers = changedPointers(JSON.parse(record), { ...known });
  return pointers.length > 0 ? pointers : ['/record'];
}

/**
 * Whether an event has the payload in the ledger that it has in the archive, where it has been read without an error.
 * An event that was asked for again can have been sealed twice, with one key: its deliveries then hold different texts
 * of one payload, to which they commit alike.
 */
export function hasSamePayload(held: EventToArchive, { kept, payload }: ArchivedEvent): boolean {
  if (!held.sealed) return payload === held.payload;
  if (!kept) return false;
  if (kept.sealed === held.payload) return true;
  return kept.commitment === held.sealed.commitment && keyIdOf(kept.sealed) === keyIdOf(held.payload);
}

/** The canonical text of the record that a delivery would have, with the commitments of the one that is known. */
function recordOf(
  closed: ClosedDelivery,
  { account_id, revision }: Pick<ArchivedDelivery, 'account_id' | 'revision'>,
  { payload_commitment: payload, details_commitment: details, view_commitment }: DeliveryRecord,
): string {
  // Commitments need the key of the event: whoever read the archive has checked those that stand there.
  const made = deliveryRecord(account_id, closed, revision, { payload, details });
  return canonicalJson({ ...made, view_commitment });
}

function parseRecord(text: string): DeliveryRecord | undefined {
  try {
    return JSON.parse(text) as DeliveryRecord;
  } catch {
    return undefined;
  }
}

/** An endpoint's incidents are executions of their own, and can be past Temporal's retention before a delivery is. */
function withoutIncidents(items: TimelineItem[] | undefined): TimelineItem[] | undefined {
  return items?.filter(({ type }) => type !== 'incident');
}
