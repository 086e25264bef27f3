import type { OutOfOrder } from '../attempt/attempt-report.js';
import { type DeliveryKey, deliveryId } from '../basics/delivery-id.js';
import { isClosed, type ShownStatus } from '../delivery/delivery.js';
import type { OrderRule } from '../event/ordering.js';
import { sharedNow } from '../time/shared-time.js';
import { TIMINGS, type Timings } from '../timings.js';
import { isPassed, type OrderPlace, skipsIn } from './order-rule.js';

/** No delivery is open for longer: a place that is older holds up nobody. */
export const PLACE_KEPT_DAYS = 31;
/** Places that are looked at together. */
const LOOKED_AT_ONCE = 20;

/** A delivery that is to be delivered in order. */
export interface OrderedDelivery extends DeliveryKey {
  order_key: string;
}

/** A delivery at its place, as its row has it. */
export interface PlacedDelivery extends DeliveryKey {
  number: number;
  /** When it took its place, milliseconds since the epoch. */
  at: number;
  /** Absent while it has no row. */
  status?: ShownStatus | undefined;
  /** The execution in which it waits for its place; absent if it does not. */
  waits_in?: string | undefined;
}

/** How far a stream is. */
export interface StreamState {
  /** The number of its latest delivery, or of one shortly before. */
  last: number;
  /** Deliveries up to this number hold up nobody. */
  passed: number;
  /** Since when, milliseconds since the epoch. */
  passed_at: number;
}

/** Where places are stored. */
export interface OrderPlaces {
  /** Gives places to deliveries, in their order. One that has a place keeps it. @returns by delivery's id */
  take(deliveries: readonly OrderedDelivery[]): Promise<Map<string, OrderPlace>>;
  find(key: DeliveryKey): Promise<OrderPlace | undefined>;
  state(stream: string): Promise<StreamState>;
  /** Deliveries at some places, by number, both bounds included; those that are not kept any more are left out. */
  between(stream: string, first: number, last: number): Promise<Map<number, PlacedDelivery>>;
  /** Deliveries up to a number hold up nobody from now on. @param at milliseconds since the epoch */
  pass(stream: string, number: number, at: number): Promise<void>;
}

/** An attempt, as far as it has a place. */
interface OrderedAttempt extends DeliveryKey {
  order_key?: string;
  number: number;
  is_resend?: boolean;
}

/** The first delivery of a stream that holds up those behind it. */
interface Head extends PlacedDelivery {
  /** For how long it has done so, milliseconds. */
  heldUpMs: number;
}

interface OrderOptions {
  /** The rule of an endpoint as it is now; `undefined` if it was deleted. */
  rule(accountId: string, endpointId: string): Promise<OrderRule | undefined>;
  /** Has a delivery attempted that waits for its place. */
  wake(delivery: DeliveryKey, workflowId: string): Promise<void>;
  timings?: Timings;
}

/**
 * Keeps deliveries of a stream in order: the first attempt of one is not made before all those in front of it are
 * delivered, or given up by the rule of the endpoint. Rows show which delivery holds up a stream, so any process can
 * look, whichever has died.
 */
export class DeliveryOrder {
  private readonly places: OrderPlaces;
  private readonly options: OrderOptions;

  constructor(places: OrderPlaces, options: OrderOptions) {
    this.places = places;
    this.options = options;
  }

  /**
   * The place of a delivery that is about to be attempted.
   *
   * @param rule of its endpoint as it is now
   * @returns also what it has to wait for, if it has
   */
  async look(attempt: OrderedAttempt, rule: OrderRule): Promise<{ place?: OrderPlace; waits?: OutOfOrder }> {
    const { event_id, endpoint_id, order_key, number, is_resend = false } = attempt;
    if (order_key === undefined || rule.ordering === undefined) return {};
    const key = { event_id, endpoint_id };
    const isFirst = number === 1 && !is_resend;
    let place = await this.places.find(key);
    // The process that accepted the event died before it took one.
    if (!place && isFirst) place = (await this.places.take([{ ...key, order_key }])).get(deliveryId(key));
    if (!place) return {};
    const head = isFirst ? await this.head(place.stream, rule, place.number - 1) : undefined;
    return { place, ...(head && { waits: this.report(place, head, rule) }) };
  }

  /**
   * Rows were kept of deliveries that have closed, or wait for their place: wakes what no longer has to wait. The
   * process that closes the one in front and the process that parks the one behind it both look after they have written
   * their row, so one of them sees both.
   */
  async kept(deliveries: readonly (DeliveryKey & { account_id: string })[]): Promise<void> {
    for (const { account_id, endpoint_id, event_id } of deliveries) {
      const rule = await this.options.rule(account_id, endpoint_id);
      const place = rule?.ordering && (await this.places.find({ event_id, endpoint_id }));
      const head = place && (await this.head(place.stream, rule));
      if (head?.waits_in !== undefined) await this.options.wake(head, head.waits_in);
    }
  }

  /** The delivery that holds up a stream. @param upTo number of the last that is looked at; absent: all of them */
  private async head(stream: string, rule: OrderRule, upTo?: number): Promise<Head | undefined> {
    if (upTo === 0) return undefined;
    const { last, passed: before, passed_at } = await this.places.state(stream);
    const now = sharedNow();
    let passed = before;
    let head: Head | undefined;
    for (let isEnd = false; !head && !isEnd && passed < (upTo ?? Number.POSITIVE_INFINITY); ) {
      const end = Math.min(upTo ?? Number.POSITIVE_INFINITY, passed + LOOKED_AT_ONCE);
      const placed = await this.places.between(stream, passed + 1, end);
      while (!head && !isEnd && passed < end) {
        const next = placed.get(passed + 1);
        const heldUpMs = passed > before ? 0 : now - Math.max(passed_at, next?.at ?? 0);
        if (next && !isPassed(next.status, heldUpMs, rule)) head = { ...next, heldUpMs };
        // A place that is not kept any more is of a delivery that is long over.
        else if (!next && passed >= last) isEnd = true;
        else passed += 1;
      }
    }
    if (passed > before) await this.places.pass(stream, passed, now);
    return head;
  }

  private report({ number }: OrderPlace, head: Head, rule: OrderRule): OutOfOrder {
    const { order_look_ms, order_look_most_ms } = this.options.timings ?? TIMINGS;
    const { number: first, event_id, status, heldUpMs } = head;
    const behind = number - first;
    const look = Math.min(Math.max(behind * order_look_ms, heldUpMs / 2), order_look_most_ms);
    const skip = (skipsIn(heldUpMs, rule) ?? Number.POSITIVE_INFINITY) + (behind - 1) * order_look_ms;
    return {
      kind: 'out_of_order',
      number,
      first: { number: first, event_id, ...(status && isClosed(status) && { status }) },
      look_again_ms: Math.ceil(Math.min(look, skip)),
    };
  }
}
