import { commitTo } from '../privacy/data-key.js';
import { commitToDetails, deliveryDetails } from './details.js';
import {
  type CanonicalDelivery,
  type ClosedDelivery,
  canonicalJson,
  deliveryRecord,
  RECORD_FORMAT,
} from './record.js';
import { RecordAlteredError } from './record-altered.js';
import type { DeliveryRow } from './stored.js';

/** Names a record. */
export type RecordKey = Pick<DeliveryRow, 'id' | 'revision'>;

/**
 * Purposes for which the salts of a record are derived. Each is of one record, so that who is shown one can test
 * guesses of nothing else.
 */
export function saltPurposes({ id, revision }: RecordKey): Record<keyof RecordSalts, string> {
  return { details: `details/${id}/${revision}`, view: `view/${id}/${revision}` };
}

/** The salts of a record, derived from the key of its event: once that is erased, its commitments say nothing. */
export interface RecordSalts {
  /** Shown in certificates. */
  details: Buffer;
  /** Shown to nobody. */
  view: Buffer;
}

/** View of a delivery. JSON texts. */
type View = Pick<DeliveryRow, 'summary' | 'detail' | 'timeline'>;

/**
 * The canonical text of the record of a closed delivery, with its commitments.
 *
 * @param payload the commitment to the payload; absent if that could not be read
 * @param salts absent if the key of the event was erased: then nothing is committed to
 */
export function committedRecord(
  accountId: string,
  { closed, ...view }: View & { closed: ClosedDelivery },
  revision: number,
  payload: string | undefined,
  salts: RecordSalts | undefined,
): string {
  const details = salts && commitToDetails(salts.details, deliveryDetails(closed));
  const record = deliveryRecord(accountId, closed, revision, { payload, details });
  return canonicalJson({ ...record, view_commitment: salts && commitToView(salts.view, record, view) });
}

/**
 * Checks that what is shown of a delivery is what was written: with the database alone, nobody can write another one
 * that holds. Whether the log has this record is another question, which a certificate answers.
 *
 * @param salt for its view; absent if the key of its event was erased: then there is nothing but the record and what
 * lists show
 * @throws RecordAlteredError
 */
export function requireIntact(recorded: DeliveryRow, salt: Buffer | undefined): void {
  try {
    requireSame(recorded, salt);
  } catch (error) {
    if (error instanceof RecordAlteredError) throw error;
    // Altered text may contain anything.
    const how = 'cannot be read: it is not what is written';
    throw new RecordAlteredError(recorded.id, how, { cause: error });
  }
}

function requireSame(recorded: DeliveryRow, salt: Buffer | undefined): void {
  const { id, record: text = '', summary, detail, timeline } = recorded;
  const altered = (how: string) => new RecordAlteredError(id, how);
  const record = parseRecord({ id, record: text });
  const other = Object.entries(columnsOf(record)).find(
    ([name, value]) => textOf(recorded[name as keyof DeliveryRow]) !== textOf(value),
  );
  if (other) throw altered(`has another ${other[0]} than its record`);
  if (!salt) {
    if (detail !== undefined || timeline !== undefined)
      throw altered('was sealed with a key that is not there');
    const shown = JSON.parse(summary) as Record<string, unknown>;
    const differs = Object.entries(summaryOf(record)).find(([name, value]) => shown[name] !== value);
    if (differs) throw altered(`differs in /summary/${differs[0]} from its record`);
    return;
  }
  if (canonicalJson(record) !== text || record.view_commitment === undefined)
    throw altered('has a record that Hookline does not make');
  if (commitToView(salt, record, recorded) !== record.view_commitment)
    throw altered('is not what its record commits to');
}

function parseRecord({ id, record }: { id: string; record: string }): CanonicalDelivery {
  let parsed: CanonicalDelivery;
  try {
    parsed = JSON.parse(record) as CanonicalDelivery;
  } catch {
    throw new RecordAlteredError(id, 'has a record that is not JSON');
  }
  if (parsed.format !== RECORD_FORMAT)
    throw new RecordAlteredError(
      id,
      `has a record of format ${parsed.format}, and this version of Hookline reads format ${RECORD_FORMAT} alone`,
    );
  return parsed;
}

/** Columns beside the record, by which lists can be filtered. */
function columnsOf(record: CanonicalDelivery) {
  const { delivery_id: id, account_id, event_id, endpoint_id, event_kind, status, accepted_at } = record;
  const { run_id, revision, attempts } = record;
  const { error_code, status_code } = attempts.at(-1) ?? {};
  const ids = { id, account_id, event_id, endpoint_id, run_id };
  return { ...ids, event_kind, status, accepted_at, revision, error_code, status_code };
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}

/** Part of a list's summary that the record says too. */
function summaryOf(record: CanonicalDelivery) {
  const { delivery_id: id, event_id, endpoint_id, event_kind, status, accepted_at: created_at } = record;
  const { sequence } = record;
  const { started_at, closed_at, workflow_id, run_id } = record;
  const times = { created_at, started_at, closed_at };
  return { id, event_id, endpoint_id, event_kind, sequence, status, ...times, workflow_id, run_id };
}

/** The commitment to a record and to all that is shown with it. */
function commitToView(salt: Buffer, record: CanonicalDelivery, { summary, detail, timeline }: View): string {
  const own = canonicalJson({ ...record, view_commitment: undefined });
  return commitTo(salt, [own, summary, detail ?? '', timeline ?? ''].join('\n'));
}
