import { type Model, Schema } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { isSubjectMark } from '../../domain/delivery/sealed-event.js';
import type { StoredEvent, StoredTarget } from '../../domain/delivery/stored-event.js';
import { canonicalJson } from '../../domain/records/canonical-json.js';
import type { EventRow } from '../../domain/records/stored.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { Tags } from '../mongo/tags.js';

export const events = collection(
  'events',
  {
    _id: must(String),
    account_id: must(String),
    event_kind: must(String),
    accepted_at: must(Date),
    /** Tokens of business keys. One is stored as a string: an equality finds it in either form. */
    keys: may<string | string[]>(Schema.Types.Mixed),
    /** Tokens of the event's subject. */
    marks: may<string[]>([String]),
    /** The payload, sealed; absent once it is no longer kept. */
    sealed: may(String),
    /** Names the key that sealed it, as a sealed text does, and stays when the payload goes. */
    key: must(String),
    commitment: must(String),
    payload_bytes: must(Number),
    sequence: may(Number),
    is_test: may<true>(Boolean),
    named_endpoints: may<string[]>([String]),
    traceparent: may(String),
    tracestate: may(String),
    targets: must<StoredTarget[]>([
      {
        _id: false,
        endpoint_id: String,
        schedule: { type: [Number], default: undefined },
        carrier: Number,
        order_key: String,
      },
    ]),
    /** See `EventToStore`. */
    carriers: may<string[]>([String]),
    starter: must(String),
    /**
     * Account and idempotency key, or the event's own id if it has none: the embedded server has no partial indexes. A
     * key is remembered as long as its event.
     */
    once: must(String, { unique: true }),
    body_hash: may(String),
    /** Tag of the fields that never change, under a key outside the database. */
    tag: may(String),
    /** When the payload goes; absent once it is gone. */
    payload_expires_at: may(Date, { index: true }),
    expires_at: must(Date, { expires: 0 }),
  },
  {
    indexes: [
      { account_id: 1, _id: 1 },
      { account_id: 1, event_kind: 1, _id: 1 },
      { account_id: 1, keys: 1, _id: 1 },
      { account_id: 1, sequence: 1 },
      { carriers: 1 },
    ],
  },
);
/** An event as it is stored. */
export type EventDocument = DocumentIn<typeof events>;

/** Tags events from their first write on, under a key that is not in the database. */
export class EventSeal extends Tags<EventDocument> {
  constructor(box: SecretBox | undefined) {
    super(box, 'event', events, textOf);
  }

  /** Tags again what an older key than the newest tagged. @returns how many */
  retagAll(model: Model<EventDocument>): Promise<number> {
    return this.retagEach(model, { sealed: 0 });
  }
}

/** All of an event that never changes. */
function textOf(document: EventDocument): string {
  const { _id, account_id, event_kind, accepted_at, keys, marks, key, commitment, payload_bytes } = document;
  const { sequence, is_test, named_endpoints, targets, carriers, once, body_hash } = document;
  return canonicalJson({
    ...{ _id, account_id, event_kind, key, commitment, payload_bytes, once },
    accepted_at: accepted_at.toISOString(),
    keys: keysOf(keys),
    marks: marks ?? [],
    sequence: sequence ?? undefined,
    is_test: is_test ?? undefined,
    named_endpoints: named_endpoints ?? undefined,
    targets: (targets ?? []).map(toTarget),
    carriers: carriers ?? [],
    body_hash: body_hash ?? undefined,
  });
}

export function keysOf(keys: string | string[] | null | undefined): string[] {
  return keys ? [keys].flat() : [];
}

/** All tokens of an event. */
export function tokensOf({ keys, marks }: Pick<EventDocument, 'keys' | 'marks'>): string[] {
  return [...keysOf(keys), ...(marks ?? [])];
}

/** Tokens as they are stored: marks of subjects apart, as nothing that is stored is found by them. */
export function storedKeys(tokens: readonly string[]): { keys?: string | string[]; marks?: string[] } {
  const keys = tokens.filter((token) => !isSubjectMark(token));
  const marks = tokens.filter(isSubjectMark);
  const [only] = keys;
  return {
    ...(only !== undefined && { keys: keys.length === 1 ? only : keys }),
    ...(marks.length > 0 && { marks }),
  };
}

function toTarget({ endpoint_id, schedule, carrier, order_key }: StoredTarget): StoredTarget {
  return {
    endpoint_id,
    ...(schedule && { schedule: [...schedule] }),
    ...(typeof carrier === 'number' && { carrier }),
    ...(order_key && { order_key }),
  };
}

/** An event with what its executions are started from; `undefined` once its payload is no longer kept. */
export function toStored(document: EventDocument): StoredEvent | undefined {
  const { _id: event_id, account_id, event_kind, accepted_at, sealed } = document;
  const { traceparent, tracestate, targets, carriers } = document;
  if (typeof sealed !== 'string') return undefined;
  return {
    event: {
      ...{ account_id, event_id, event_kind, accepted_at: accepted_at.toISOString() },
      ...(traceparent && { traceparent }),
      ...(tracestate && { tracestate }),
    },
    targets: (targets ?? []).map(toTarget),
    carriers: carriers ?? [],
  };
}

/** @param payload opened; absent if it is gone, or its key was erased */
export function toEvent(document: EventDocument, payload?: string): EventRow {
  const { _id, account_id, event_kind, accepted_at, payload_bytes, targets } = document;
  const { sealed, sequence, is_test, named_endpoints } = document;
  return {
    id: _id,
    account_id,
    event_kind,
    accepted_at,
    keys: tokensOf(document),
    payload,
    payload_bytes,
    ...(typeof sequence === 'number' && { sequence }),
    ...(is_test && { is_test }),
    ...(named_endpoints && { named_endpoints }),
    ...(sealed && { kept: { sealed } }),
    endpoint_ids: (targets ?? []).map(({ endpoint_id }) => endpoint_id),
    order_of: ordersIn(document),
    carrier_of: carriersIn(document),
    carriers: document.carriers ?? [],
  };
}

function carriersIn({ targets, carriers }: EventDocument): Map<string, string> {
  const of = (targets ?? []).map(({ endpoint_id, carrier }) => {
    const group = typeof carrier === 'number' ? carriers?.[carrier] : undefined;
    return group === undefined ? [] : [[endpoint_id, group] as const];
  });
  return new Map(of.flat());
}

function ordersIn({ targets }: EventDocument): Map<string, string> {
  return new Map(
    (targets ?? []).flatMap(({ endpoint_id, order_key }) => (order_key ? [[endpoint_id, order_key]] : [])),
  );
}
