import { Context } from '@temporalio/activity';
import type { EndpointKey } from '../src/domain/delivery.js';
import type { DeliveryStarter } from './ports.js';

/** Wakes the parked deliveries of an endpoint. Repeated after a crash, it wakes those that are parked then. */
export function createReleaseParkedDeliveries(starter: DeliveryStarter) {
  return async function releaseParkedDeliveries(endpoint: EndpointKey): Promise<void> {
    await starter.wakeParked(endpoint, () => Context.current().heartbeat());
  };
}
