import { Schema } from 'mongoose';
import type { DeliveryRow, ListedDelivery } from '../../domain/records/stored.js';
import { keysOf } from '../event/event-document.js';
import { collection, type DocumentIn, may, must, withoutNulls } from '../mongo/collection.js';

export const deliveries = collection(
  'deliveries',
  {
    _id: must(String),
    account_id: must(String),
    event_id: must(String),
    endpoint_id: must(String),
    event_kind: must(String),
    status: must<DeliveryRow['status']>(String),
    accepted_at: must(Date),
    /** Absent if there is none. One is stored as a string: an equality finds it in either form. */
    keys: may<string | string[]>(Schema.Types.Mixed),
    marks: may<string[]>([String]),
    error_code: may<NonNullable<DeliveryRow['error_code']>>(String),
    status_code: may(Number),
    results: may<readonly string[]>([String]),
    longest_ms: may(Number),
    position: must(String),
    run_id: must(String),
    turn: must(Number),
    revision: must(Number),
    /** Absent while it is open. */
    record: may(String),
    summary: must(String),
    detail: may(String),
    timeline: may(String),
    /** When the row was written. */
    kept_at: must(Date),
    /** Absent while it is open. */
    expires_at: may(Date, { expires: 0 }),
    /** Segment of this revision of the record, written after the row; absent while it is open. */
    segment: may(String),
    /** SHA-256 of detail and timeline as stored, while it is open and no record commits to them. */
    sum: may(String),
    /** Tag of everything that is believed of the row without opening it: see `RowTags`. */
    tag: must(String),
  },
  {
    // By account and by each of the most frequent filters, in the order of the list; by all accounts; and by
    // `expires_at`. No more: what an insert costs is mostly indexes.
    indexes: [
      { position: 1 },
      { account_id: 1, position: 1 },
      { account_id: 1, endpoint_id: 1, position: 1 },
      { account_id: 1, status: 1, position: 1 },
      { account_id: 1, keys: 1, position: 1 },
      { account_id: 1, event_id: 1, position: 1 },
    ],
  },
);
/** A delivery as it is stored. */
export type DeliveryDocument = DocumentIn<typeof deliveries>;

/** A delivery as it is stored, without what lists do not show. Its tag tells whether it was altered. */
export type ListedDocument = Omit<DeliveryDocument, 'detail' | 'timeline'>;

/** Fields that lists leave in the database: they are most of a document. */
export const UNLISTED = { detail: 0, timeline: 0 } as const;

export function toListed(document: ListedDocument): ListedDelivery {
  const { _id, account_id, event_id, endpoint_id, event_kind, status, accepted_at, keys } = document;
  const { position, run_id, turn, revision, record, summary } = document;
  const { error_code, status_code, results, longest_ms } = document;
  return {
    ...{ id: _id, account_id, event_id, endpoint_id, event_kind, status, accepted_at },
    ...{ position, run_id, turn, revision, summary },
    ...withoutNulls({ record, results, longest_ms }),
    keys: keysOf(keys),
    error_code: error_code ?? undefined,
    status_code: status_code ?? undefined,
  };
}
