import { Context } from '@temporalio/activity';
import type { EndpointKey } from '../../src/domain/delivery/delivery.js';
import type { DeliveryStarter } from '../ports.js';

/** Wakes the parked deliveries of an endpoint, oldest first. Repeated after a crash, it wakes those that are parked then. */
export function createReleaseParkedDeliveries(starter: DeliveryStarter) {
  return async function releaseParkedDeliveries({
    per_second,
    ...endpoint
  }: EndpointKey & { per_second: number }): Promise<void> {
    await starter.wakeParked(endpoint, { per_second }, () => Context.current().heartbeat());
  };
}
