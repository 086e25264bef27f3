import type { Alert } from './alert.js';

/**
 * Alerts that wait to be sent are kept up to this number; of further ones only the number is. A message lists no more.
 */
export const MAX_PENDING = 100;
/**
 * Ids that are remembered, so that a repeat is not sent again: more than an incident's activities can repeat in the
 * time between messages.
 */
const MAX_SEEN = 500;

interface PendingAlert {
  alert: Alert;
  /** When it may be sent, milliseconds since the epoch. */
  due: number;
}

/** An inbox as another run carries on with it. A Temporal payload. */
export interface AlertInboxState {
  pending: PendingAlert[];
  seen: string[];
  left_out: number;
}

/** Content of one message. A Temporal payload. */
export interface AlertDigest {
  alerts: Alert[];
  /** Alerts that happened besides. */
  left_out: number;
}

/**
 * Alerts on their way to people. Alerts about failing endpoints are held for a while: if it recovers within that time,
 * nobody hears of either. Whether the failure was sent is told by how long the incident lasted, so nothing has to be
 * remembered of it.
 */
export class AlertInbox {
  private readonly holdMs: number;
  private readonly seen: Set<string>;
  private pending: PendingAlert[];
  private leftOut: number;

  /** @param holdMs how long a failure is held */
  constructor(holdMs: number, state: AlertInboxState = { pending: [], seen: [], left_out: 0 }) {
    this.holdMs = holdMs;
    this.pending = [...state.pending];
    this.seen = new Set(state.seen);
    this.leftOut = state.left_out;
  }

  get state(): AlertInboxState {
    return { pending: this.pending, seen: [...this.seen], left_out: this.leftOut };
  }

  /** When the next alert may be sent, milliseconds since the epoch; `undefined` if there is none. */
  get nextAt(): number | undefined {
    return this.pending.length === 0 ? undefined : Math.min(...this.pending.map(({ due }) => due));
  }

  add(alert: Alert): void {
    if (this.seen.has(alert.id)) return;
    this.remember(alert.id);
    const at = Date.parse(alert.at);
    const since = alert.since === undefined ? at : Date.parse(alert.since);
    if (alert.kind === 'endpoint.failing') {
      this.keep({ alert, due: since + this.holdMs });
      return;
    }
    const held = this.pending.filter(({ alert: { kind, endpoint_id } }) => {
      return kind === 'endpoint.failing' && endpoint_id === alert.endpoint_id;
    });
    // An alert replaces an earlier failure that nobody has been told of; a recovery removes it.
    this.pending = this.pending.filter((one) => !held.includes(one));
    const isBrief = held.length > 0 || at - since < this.holdMs;
    if (alert.kind === 'endpoint.recovered' && isBrief) return;
    this.keep({ alert, due: at });
  }

  /** Takes what may be sent now. @param now milliseconds since the epoch */
  take(now: number): AlertDigest {
    const due = this.pending.filter((one) => one.due <= now).map(({ alert }) => alert);
    this.pending = this.pending.filter((one) => one.due > now);
    const left_out = this.leftOut;
    this.leftOut = 0;
    return { alerts: due.sort((one, other) => (one.at < other.at ? -1 : 1)), left_out };
  }

  /** A message was not sent yet: its alerts may be sent at once. */
  putBack({ alerts, left_out }: AlertDigest): void {
    const due = alerts.map((alert) => ({ alert, due: Date.parse(alert.at) }));
    const later = this.pending;
    this.pending = [];
    for (const one of [...due, ...later]) this.keep(one);
    this.leftOut += left_out;
  }

  /** A message could not be sent: the next one says how many alerts were in it. */
  lost({ alerts, left_out }: AlertDigest): void {
    this.leftOut += alerts.length + left_out;
  }

  private keep(pending: PendingAlert): void {
    if (this.pending.length < MAX_PENDING) this.pending.push(pending);
    else this.leftOut += 1;
  }

  private remember(id: string): void {
    this.seen.add(id);
    const [oldest] = this.seen;
    if (this.seen.size > MAX_SEEN && oldest !== undefined) this.seen.delete(oldest);
  }
}
