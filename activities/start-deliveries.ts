import type { DeliveryBatch, DeliveryStarter } from './ports.js';

/** Starts a batch of an event's deliveries. Repeated after a crash, it starts those that are missing. */
export function createStartDeliveries(starter: DeliveryStarter) {
  return async function startDeliveries({ targets, ...event }: DeliveryBatch): Promise<void> {
    await starter.start(event, targets);
  };
}
