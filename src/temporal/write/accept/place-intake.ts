import { inBatches } from '../../../domain/basics/batches.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { tryAgain } from '../../../domain/basics/try-again.js';
import type { KeptEvent } from '../../../domain/delivery/stored-event.js';
import {
  type OrderedDelivery,
  type OrderPlaces,
  PLACE_KEPT_DAYS,
} from '../../../domain/order/delivery-order.js';
import { sharedNow } from '../../../domain/time/shared-time.js';

/** Events whose deliveries take places together. */
const TAKEN_AT_ONCE = 500;

/**
 * Has events that are stored take their places in the orders of their endpoints, before their producers are answered:
 * so what a producer sends after an answer comes after it. Waiting requests are served together, with one call in
 * flight.
 */
export class PlaceIntake {
  private readonly places: Pick<OrderPlaces, 'take'>;
  private readonly taken = inBatches<readonly OrderedDelivery[]>(
    async (some) => {
      await tryAgain(() => this.places.take(some.flat()));
    },
    (some) => some.length < TAKEN_AT_ONCE,
  );

  constructor(places: Pick<OrderPlaces, 'take'>) {
    this.places = places;
  }

  /** @returns what to wait for; `undefined` if no delivery of the event is in an order, or its place is kept no more */
  take({ event_id, targets }: Pick<KeptEvent, 'event_id' | 'targets'>): Promise<void> | undefined {
    // A late repeat would take a second one.
    if (idTime(event_id) < sharedNow() - PLACE_KEPT_DAYS * UNITS.d) return undefined;
    const deliveries = targets.flatMap(({ endpoint_id, order_key }) =>
      order_key ? [{ event_id, endpoint_id, order_key }] : [],
    );
    return deliveries.length === 0 ? undefined : this.taken(deliveries);
  }
}
