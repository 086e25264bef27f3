import { resourceName } from '../../domain/change/change.js';
import type { NamedTarget } from '../../domain/delivery/delivery.js';
import { type Subscription, toTarget } from '../../domain/delivery/recipients.js';
import type { EndpointThen } from '../../domain/explain/explain-absence.js';
import { hostOf } from '../../domain/ledger/summaries.js';
import type { ChangeRepository } from '../change/changes.js';
import type { StoredEndpoint } from './endpoint-document.js';
import type { EndpointRepository } from './endpoints.js';

/** Registrations of endpoints, present and past. */
export class Registrations {
  private readonly database: { endpoints: EndpointRepository; changes: ChangeRepository };

  constructor(database: { endpoints: EndpointRepository; changes: ChangeRepository }) {
    this.database = database;
  }

  /** As it is now; `undefined` if the account has no such endpoint. */
  async now(
    accountId: string,
    endpointId: string,
  ): Promise<{ target: NamedTarget; subscription: Subscription } | undefined> {
    const endpoint = await this.database.endpoints.get(accountId, endpointId);
    if (!endpoint) return undefined;
    return { target: { ...toTarget(endpoint), host: hostOf(endpoint.target_url) }, subscription: endpoint };
  }

  /** As it was at a time; `undefined` if it did not exist then, or that is not kept. */
  async at(accountId: string, endpointId: string, time: Date): Promise<Subscription | undefined> {
    const { endpoints, changes } = this.database;
    const now = () => endpoints.get(accountId, endpointId);
    const then = await endpointAt(changes, accountId, endpointId, time, now);
    return then.state === 'existed' ? then.endpoint : undefined;
  }
}

/**
 * An endpoint of an account as it was at a time.
 *
 * @param now reads the endpoint as it is. Without a change that is kept, it has been like this since it was last
 * changed
 */
export async function endpointAt(
  changes: ChangeRepository,
  accountId: string,
  endpointId: string,
  time: Date,
  now: () => Promise<StoredEndpoint | undefined>,
): Promise<EndpointThen> {
  const past = await changes.stateAt(accountId, resourceName('endpoint', endpointId), time);
  if (past.known) {
    const endpoint = past.state as Subscription | undefined;
    return endpoint ? { state: 'existed', endpoint } : { state: 'absent' };
  }
  const endpoint = await now();
  return endpoint && Date.parse(endpoint.updated_at) <= time.getTime()
    ? { state: 'existed', endpoint }
    : { state: 'not_kept' };
}
