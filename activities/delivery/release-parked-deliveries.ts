import { Context } from '@temporalio/activity';
import type { EndpointKey } from '../../src/domain/delivery/delivery.js';
import type { ActivityDependencies } from '../ports.js';

/** Wakes the parked deliveries of an endpoint, oldest first. Repeated after a crash, it wakes those that are parked then. */
export function createReleaseParkedDeliveries({ ledger }: Pick<ActivityDependencies, 'ledger'>) {
  return async function releaseParkedDeliveries({
    per_second,
    ...endpoint
  }: EndpointKey & { per_second: number }): Promise<void> {
    await ledger.wakeParked(endpoint, { per_second }, () => Context.current().heartbeat());
  };
}
