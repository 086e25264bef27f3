import { Schema } from 'mongoose';
import type { ArchivedDelivery, ArchivedEvent, ListedDelivery } from '../../domain/archive/archived.js';
import type { SecondLook } from '../../domain/archive/to-archive.js';
import { isSubjectMark } from '../../domain/ledger/sealed-event.js';

/** In the place of a leaf's number: the record is kept, and not in the log yet. Readers do without it until it is. */
export const UNLOGGED = -1;
/** Finds records that readers have, or that somebody has altered. */
export const LOGGED = { leaf_index: { $ne: UNLOGGED } } as const;

/** A closed delivery as it is stored. */
export interface DeliveryDocument
  extends Omit<ArchivedDelivery, 'id' | 'keys' | 'error_code' | 'status_code'> {
  _id: string;
  /** Absent if there is none. One is stored as a string: an equality finds it in either form. */
  keys?: string | string[] | null;
  marks?: string[] | null;
  error_code?: ArchivedDelivery['error_code'] | null;
  status_code?: number | null;
  archived_at: Date;
  expires_at: Date;
  /** Number of this revision of the record in the log, or {@link UNLOGGED}. */
  leaf_index: number;
  /** Numbers of the revisions before it, whose records it has replaced. Absent if there were none. */
  replaced_leaves?: number[] | null;
}

/** An event as it is stored. */
export interface EventDocument
  extends Omit<ArchivedEvent, 'id' | 'keys' | 'payload' | 'fan_out' | 'position' | 'sequence' | 'is_test'> {
  _id: string;
  keys?: string | string[] | null;
  /** Of the event's subject. */
  marks?: string[] | null;
  /** The payload, sealed; absent once it is no longer kept. */
  sealed?: string | null;
  /** Names the key that sealed it, as a sealed text does, and stays when the payload goes. */
  key: string;
  commitment: string;
  sequence?: number | null;
  is_test?: true | null;
  fan_out?: string | null;
  position?: string | null;
  /** When the payload goes; absent once it is gone. */
  payload_expires_at?: Date | null;
  expires_at: Date;
}

/** How far the archive is. */
export interface ArchiveStateDocument {
  _id: string;
  /** Executions that closed before this have been archived. */
  up_to?: Date | null;
  second_look?: SecondLook | null;
  /** Deliveries that were to be kept by runs that are under way, or were interrupted. */
  keeping?: string[] | null;
  /** Since when everything that is archived is kept for as long as Temporal keeps it; absent while it is not. */
  outlasts_since?: Date | null;
}

const required = true;
const expires = { type: Date, required, expires: 0 };

export const deliverySchema = new Schema<DeliveryDocument>(
  {
    _id: String,
    account_id: { type: String, required },
    event_id: { type: String, required },
    endpoint_id: { type: String, required },
    event_kind: { type: String, required },
    status: { type: String, required },
    accepted_at: { type: Date, required },
    keys: Schema.Types.Mixed,
    marks: { type: [String], default: undefined },
    error_code: String,
    status_code: Number,
    results: { type: [String], default: undefined },
    longest_ms: Number,
    position: { type: String, required },
    run_id: { type: String, required },
    run_order: { type: String, required },
    revision: { type: Number, required },
    record: { type: String, required },
    summary: { type: String, required },
    detail: String,
    timeline: String,
    archived_at: { type: Date, required },
    expires_at: expires,
    leaf_index: { type: Number, required },
    replaced_leaves: { type: [Number], default: undefined },
  },
  { versionKey: false },
);
// Of an account, and by what lists are filtered by most: each in the order of the list.
deliverySchema.index({ account_id: 1, position: 1 });
deliverySchema.index({ account_id: 1, endpoint_id: 1, position: 1 });
deliverySchema.index({ account_id: 1, event_kind: 1, position: 1 });
deliverySchema.index({ account_id: 1, status: 1, position: 1 });
deliverySchema.index({ account_id: 1, endpoint_id: 1, status: 1, position: 1 });
deliverySchema.index({ account_id: 1, keys: 1, position: 1 });
deliverySchema.index({ account_id: 1, event_id: 1, position: 1 });

export const eventSchema = new Schema<EventDocument>(
  {
    _id: String,
    account_id: { type: String, required },
    event_kind: { type: String, required },
    accepted_at: { type: Date, required },
    keys: Schema.Types.Mixed,
    marks: { type: [String], default: undefined },
    sealed: String,
    key: { type: String, required },
    commitment: { type: String, required },
    payload_bytes: { type: Number, required },
    sequence: Number,
    is_test: Boolean,
    fan_out: String,
    position: String,
    payload_expires_at: Date,
    expires_at: expires,
  },
  { versionKey: false },
);
eventSchema.index({ account_id: 1, position: 1 });
eventSchema.index({ account_id: 1, event_kind: 1, position: 1 });
eventSchema.index({ account_id: 1, keys: 1, position: 1 });
eventSchema.index({ account_id: 1, _id: 1 });
eventSchema.index({ account_id: 1, sequence: 1 });
eventSchema.index({ payload_expires_at: 1 });

export const stateSchema = new Schema<ArchiveStateDocument>(
  {
    _id: String,
    up_to: Date,
    second_look: { type: { from: Date, to: Date, at: Date, _id: false }, default: undefined },
    keeping: { type: [String], default: undefined },
    outlasts_since: Date,
  },
  { versionKey: false },
);

export function keysOf(keys: string | string[] | null | undefined): string[] {
  return keys ? [keys].flat() : [];
}

/** Tokens as they are stored: marks of subjects apart, as nothing archived is found by them. */
export function storedKeys(tokens: readonly string[]): { keys?: string | string[]; marks?: string[] } {
  const keys = tokens.filter((token) => !isSubjectMark(token));
  const marks = tokens.filter(isSubjectMark);
  const [only] = keys;
  return {
    ...(only !== undefined && { keys: keys.length === 1 ? only : keys }),
    ...(marks.length > 0 && { marks }),
  };
}

/** A delivery as it is stored, without what lists do not show. The record tells whether the rest was altered. */
export type ListedDocument = Omit<DeliveryDocument, 'detail' | 'timeline'>;

export function toListed({ _id, keys, marks: _, ...document }: ListedDocument): ListedDelivery {
  const {
    archived_at: __,
    expires_at: ___,
    leaf_index: ____,
    replaced_leaves: ______,
    error_code,
    status_code,
    ...delivery
  } = document;
  return {
    id: _id,
    ...delivery,
    keys: keysOf(keys),
    error_code: error_code ?? undefined,
    status_code: status_code ?? undefined,
  };
}

/** @param payload opened; absent if it is gone, or its key was erased */
export function toEvent(document: EventDocument, payload?: string): ArchivedEvent {
  const { _id, account_id, event_kind, accepted_at, keys, payload_bytes, fan_out, position } = document;
  const { sealed, commitment, marks, sequence, is_test } = document;
  return {
    id: _id,
    account_id,
    event_kind,
    accepted_at,
    keys: [...keysOf(keys), ...(marks ?? [])],
    payload,
    payload_bytes,
    ...(typeof sequence === 'number' && { sequence }),
    ...(is_test && { is_test }),
    ...(sealed && { kept: { sealed, commitment } }),
    fan_out: fan_out ?? undefined,
    position: position ?? undefined,
  };
}
