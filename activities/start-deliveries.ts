import { Context } from '@temporalio/activity';
import type { DeliveryBatch, DeliveryStarter } from './ports.js';

/** Starts in flight at once, so that one fan-out leaves room for other events. */
const CONCURRENCY = 8;

/** Starts a batch of an event's deliveries. Repeated after a crash, it starts those that are missing. */
export function createStartDeliveries(starter: DeliveryStarter) {
  return async function startDeliveries(batch: DeliveryBatch): Promise<void> {
    const remaining = [...batch.targets];
    const startNext = async (): Promise<void> => {
      for (let target = remaining.shift(); target !== undefined; target = remaining.shift()) {
        await starter.start(batch, target);
        Context.current().heartbeat(remaining.length);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, startNext));
  };
}
