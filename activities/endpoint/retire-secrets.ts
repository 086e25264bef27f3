import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import type { ActivityDependencies } from '../ports.js';

/**
 * Removes an endpoint's signing secrets whose overlap has ended. They have stopped signing already; this deletes them from the database.
 *
 * @returns when the next overlap ends, milliseconds since the epoch; `null` if there is none left
 */
export function createRetireSecrets({ endpoints }: Pick<ActivityDependencies, 'endpoints'>) {
  return async function retireSecrets({ account_id, endpoint_id }: EndpointKey): Promise<number | null> {
    return (await endpoints.retireSecrets(account_id, endpoint_id)) ?? null;
  };
}
