import type { RecordedTime } from '../time/recorded-time.js';
import type { DeliveryStatus } from './delivery.js';

/** The kinds of events that tell an account which deliveries have ended without success, by their status. */
export const END_KINDS = {
  exhausted: 'delivery.exhausted',
  expired: 'delivery.expired',
} as const satisfies Partial<Record<DeliveryStatus, string>>;

export type EndKind = (typeof END_KINDS)[keyof typeof END_KINDS];

/** Ends that one event counts; more are told by another event. */
export const MAX_ENDS_TOLD = 1_000;
/** Deliveries that such an event names. */
export const MAX_ENDS_NAMED = 100;

/** A delivery that has ended without success, to be told. */
export interface End {
  account_id: string;
  endpoint_id: string;
  kind: EndKind;
  delivery_id: string;
  event_id: string;
  event_kind: string;
  closed_at: Date;
  /** The delivery's run. A resent delivery can end once more, in another run. */
  run_id: string;
}

/** Ends of one endpoint's deliveries that are told together. */
export interface EndNotice extends Pick<End, 'account_id' | 'endpoint_id' | 'kind'> {
  /** The same however often it is told. */
  name: string;
  /** When they were put together. */
  at: RecordedTime;
  ends: readonly End[];
}

/** The kind of event that tells of a status; `undefined` if none does. */
export function endKindOf(status: DeliveryStatus | 'terminated'): EndKind | undefined {
  return status in END_KINDS ? END_KINDS[status as keyof typeof END_KINDS] : undefined;
}

/** Payload of the event. */
export function noticePayload({
  endpoint_id,
  ends,
}: EndNotice): { endpoint_id: string } & Record<string, unknown> {
  const byTime = [...ends].sort((a, b) => a.closed_at.getTime() - b.closed_at.getTime());
  return {
    endpoint_id,
    count: ends.length,
    first_closed_at: byTime[0]?.closed_at.toISOString(),
    last_closed_at: byTime.at(-1)?.closed_at.toISOString(),
    event_kinds: [...new Set(ends.map(({ event_kind }) => event_kind))].sort(),
    deliveries: byTime.slice(0, MAX_ENDS_NAMED).map(({ delivery_id, event_id, event_kind, closed_at }) => ({
      delivery_id,
      event_id,
      event_kind,
      closed_at: closed_at.toISOString(),
    })),
  };
}

/** Deliveries that have ended without success, until their accounts are told. */
export interface UnannouncedEnds {
  /** An end that is noted twice is told once, also if it was told in between, not long ago. */
  note(ends: readonly End[]): Promise<void>;
  /** These are not so, as it turned out: those that were not told yet are not told. */
  withdraw(ends: readonly End[]): Promise<void>;
  /** The same again until it was {@link told}; `undefined` if nothing is left. */
  next(): Promise<EndNotice | undefined>;
  told(notice: EndNotice): Promise<void>;
}
