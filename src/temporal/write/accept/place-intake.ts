import { setTimeout as delay } from 'node:timers/promises';
import type { KeptEvent } from '../../../domain/delivery/stored-event.js';
import type { OrderedDelivery, OrderPlaces } from '../../../domain/order/delivery-order.js';

/** Deliveries that take places together. */
const TAKEN_AT_ONCE = 500;
/** For how long, and how often, places are tried to take again, milliseconds. */
const AGAIN = { forMs: 2_500, everyMs: 100 };

interface Waiting {
  deliveries: readonly OrderedDelivery[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Has events that are stored take their places in the orders of their endpoints, before their producers are answered:
 * so what a producer sends after an answer comes after it. What waits is done together, with one call under way.
 */
export class PlaceIntake {
  private readonly places: Pick<OrderPlaces, 'take'>;
  private queue: Waiting[] = [];
  private isTaking = false;

  constructor(places: Pick<OrderPlaces, 'take'>) {
    this.places = places;
  }

  /** @returns what to wait for; `undefined` if no delivery of the event is in an order */
  take({ event_id, targets }: Pick<KeptEvent, 'event_id' | 'targets'>): Promise<void> | undefined {
    const deliveries = targets.flatMap(({ endpoint_id, order_key }) =>
      order_key ? [{ event_id, endpoint_id, order_key }] : [],
    );
    if (deliveries.length === 0) return undefined;
    return new Promise((resolve, reject) => {
      this.queue.push({ deliveries, resolve, reject });
      if (!this.isTaking) void this.takeWaiting();
    });
  }

  private async takeWaiting(): Promise<void> {
    this.isTaking = true;
    while (this.queue.length > 0) {
      const some = this.queue.splice(0, TAKEN_AT_ONCE);
      try {
        await this.takeAgain(some.flatMap(({ deliveries }) => deliveries));
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.isTaking = false;
  }

  private async takeAgain(deliveries: readonly OrderedDelivery[]): Promise<void> {
    for (const deadline = performance.now() + AGAIN.forMs; ; await delay(AGAIN.everyMs)) {
      try {
        await this.places.take(deliveries);
        return;
      } catch (error) {
        if (performance.now() >= deadline) throw error;
      }
    }
  }
}
