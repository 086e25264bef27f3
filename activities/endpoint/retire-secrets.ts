import type { EndpointKey } from '../../src/domain/delivery/delivery.js';
import type { ActivityDependencies } from '../ports.js';

/**
 * Removes an endpoint's signing secrets whose overlap has ended. They sign no more in any case: this takes them out of the database.
 *
 * @returns in the activity's result: when the next one ends, milliseconds since the epoch; `null` where none is left
 */
export function createRetireSecrets({ endpoints }: Pick<ActivityDependencies, 'endpoints'>) {
  return async function retireSecrets({ account_id, endpoint_id }: EndpointKey): Promise<number | null> {
    return (await endpoints.retireSecrets(account_id, endpoint_id)) ?? null;
  };
}
