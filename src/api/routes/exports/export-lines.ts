import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { type PayloadForm, payloadMembers, toLine } from '../../../domain/records/payload-line.js';
import { canonicalJson, changeRecord, type SaltedChange } from '../../../domain/records/record.js';
import { RecordAlteredError } from '../../../domain/records/record-altered.js';
import { deliveryIn } from '../../../domain/records/stored-views.js';
import { withoutFacts } from '../../../domain/view/delivery-view.js';
import type { ExportedEvent } from '../../../models/records/record-reader.js';

/** Key by which lines are sorted: the id of their event or change without its prefix, which begins with its time. */
type Place = string;

const placeOf = (id: string): Place => id.slice(id.indexOf('_') + 1);

/** The place of a line by its cursor: the id of an event, of one of its deliveries, or of a change. */
export function placeOfCursor(after: string): Place {
  return placeOf(parseDeliveryId(after)?.event_id ?? after);
}

/** Sources of an export, each in the order of ids. */
interface Exported {
  events: AsyncIterable<ExportedEvent>;
  changes: AsyncIterable<SaltedChange | RecordAlteredError>;
}

/**
 * The lines of an export by time: events, each followed by its deliveries, and changes. The same documents give the
 * same bytes, so an export that was interrupted goes on behind the last whole line.
 *
 * @param after the cursor of the last line that was received; absent: from the beginning
 * @param form of payloads
 */
export async function* exportLines(
  accountId: string,
  { events, changes }: Exported,
  after: string | undefined,
  form: PayloadForm = 'json',
): AsyncIterable<string> {
  const waiting = changes[Symbol.asyncIterator]();
  try {
    let change = await waiting.next();
    for await (const event of events) {
      for (
        ;
        !change.done && placeOf(idOfChange(change.value)) < placeOf(event.event.id);
        change = await waiting.next()
      )
        yield changeLine(accountId, change.value);
      yield* eventLines(event, after, form);
    }
    for (; !change.done; change = await waiting.next()) yield changeLine(accountId, change.value);
  } finally {
    // An export that is given up leaves no cursor open in the database.
    await waiting.return?.();
  }
}

function* eventLines(
  { event, altered, deliveries }: ExportedEvent,
  after: string | undefined,
  form: PayloadForm,
): Iterable<string> {
  const { id, event_kind: kind, accepted_at, sequence, payload_bytes, payload } = event;
  const isBegun = after !== undefined && placeOfCursor(after) === placeOf(id);
  const created_at = accepted_at.toISOString();
  const head = { type: 'event', after: id, id, kind, created_at, sequence, payload_bytes };
  if (!isBegun)
    yield altered ? alteredLine(altered) : `${toLine(head).slice(0, -1)},${payloadMembers(payload, form)}}\n`;
  for (const { recorded, altered } of deliveries) {
    const { id: cursor, record = '' } = recorded;
    if (isBegun && after.startsWith('dlv_') && cursor <= after) continue;
    yield altered
      ? alteredLine(altered)
      : withRecord({ type: 'delivery', after: cursor, delivery: withoutFacts(deliveryIn(recorded)) }, record);
  }
}

/** In the place of what is not what was recorded. */
function alteredLine({ id, message }: RecordAlteredError): string {
  return `${toLine({ type: 'altered', after: id, id, detail: message })}\n`;
}

const idOfChange = (read: SaltedChange | RecordAlteredError) =>
  read instanceof RecordAlteredError ? read.id : read.change.id;

function changeLine(accountId: string, salted: SaltedChange | RecordAlteredError): string {
  if (salted instanceof RecordAlteredError) return alteredLine(salted);
  const { change } = salted;
  return withRecord(
    { type: 'change', after: change.id, change },
    canonicalJson(changeRecord(accountId, salted)),
  );
}

/** The record is put in as it is: its bytes are what the log has a leaf of. It has no line breaks. */
function withRecord(line: object, record: string): string {
  return `${toLine(line).slice(0, -1)},"record":${record}}\n`;
}
