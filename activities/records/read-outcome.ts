import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isClosed } from '../../src/domain/delivery/delivery.js';
import type { AwaitedEvent, EventOutcome } from '../../src/domain/view/event-outcome.js';

export interface OutcomePorts {
  /** The deliveries of an event that have a row; `undefined` if the event does not exist any more. */
  deliveriesOf(event: AwaitedEvent): Promise<EventOutcome['deliveries'] | undefined>;
}

/**
 * Reads how an event's deliveries ended.
 *
 * @throws ApplicationFailure while one of them is open, which is tried again, or if the event was deleted
 */
export function createReadOutcome({ deliveriesOf }: OutcomePorts) {
  return async (event: AwaitedEvent): Promise<EventOutcome> => {
    const { event_id: id, event_kind: kind, delivery_count } = event;
    const deliveries = delivery_count === 0 ? [] : await deliveriesOf(event);
    if (!deliveries) throw ApplicationFailure.nonRetryable('The event was deleted.', 'event_deleted');
    const closed = deliveries.filter(({ status }) => isClosed(status));
    if (closed.length < delivery_count)
      throw ApplicationFailure.create({
        type: 'deliveries_open',
        message: `${delivery_count - closed.length} of ${delivery_count} deliveries are open.`,
        category: ApplicationFailureCategory.BENIGN,
      });
    return { id, kind, delivery_count, deliveries: closed };
  };
}
