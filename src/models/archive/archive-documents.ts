import { Schema } from 'mongoose';
import type { ArchivedDelivery, ListedDelivery } from '../../domain/archive/archived.js';
import type { SecondLook } from '../../domain/archive/to-archive.js';
import { keysOf } from '../event/event-document.js';
import { collection, type DocumentIn, may, must, withoutNulls } from '../mongo/collection.js';

export const deliveries = collection(
  'archived_deliveries',
  {
    _id: must(String),
    account_id: must(String),
    event_id: must(String),
    endpoint_id: must(String),
    event_kind: must(String),
    status: must<ArchivedDelivery['status']>(String),
    accepted_at: must(Date),
    /** Absent if there is none. One is stored as a string: an equality finds it in either form. */
    keys: may<string | string[]>(Schema.Types.Mixed),
    marks: may<string[]>([String]),
    error_code: may<NonNullable<ArchivedDelivery['error_code']>>(String),
    status_code: may(Number),
    results: may<readonly string[]>([String]),
    longest_ms: may(Number),
    position: must(String),
    run_id: must(String),
    run_order: must(String),
    revision: must(Number),
    record: must(String),
    summary: must(String),
    detail: may(String),
    timeline: may(String),
    archived_at: must(Date),
    expires_at: must(Date, { expires: 0 }),
    /** Of this revision of the record. It is made after the row. */
    segment: must(String),
    /** Of all that is believed of the row without opening it: see `RowTags`. */
    tag: must(String),
  },
  {
    // Of an account, and by what lists are filtered by most, each in the order of the list; and that of `expires_at`.
    // Six and no more: what an insert costs is mostly indexes.
    indexes: [
      { account_id: 1, position: 1 },
      { account_id: 1, endpoint_id: 1, position: 1 },
      { account_id: 1, status: 1, position: 1 },
      { account_id: 1, keys: 1, position: 1 },
      { account_id: 1, event_id: 1, position: 1 },
    ],
  },
);
/** A closed delivery as it is stored. */
export type DeliveryDocument = DocumentIn<typeof deliveries>;

/** How far the archive is. */
export const states = collection('archive_state', {
  _id: must(String),
  /** Executions that closed before this have been archived. */
  up_to: may(Date),
  second_look: may<SecondLook>({ from: Date, to: Date, at: Date, _id: false }),
  /** Since when everything that is archived is kept for as long as Temporal keeps it; absent while it is not. */
  outlasts_since: may(Date),
});

/** A delivery as it is stored, without what lists do not show. Its tag tells whether it was altered. */
export type ListedDocument = Omit<DeliveryDocument, 'detail' | 'timeline'>;

/** What lists leave in the database: it is most of a document. */
export const UNLISTED = { detail: 0, timeline: 0 } as const;

export function toListed({ _id, keys, marks: _, ...document }: ListedDocument): ListedDelivery {
  const {
    archived_at: __,
    expires_at: ___,
    segment: ____,
    tag: _____,
    error_code,
    status_code,
    results,
    longest_ms,
    ...delivery
  } = document;
  return {
    id: _id,
    ...delivery,
    ...withoutNulls({ results, longest_ms }),
    keys: keysOf(keys),
    error_code: error_code ?? undefined,
    status_code: status_code ?? undefined,
  };
}
