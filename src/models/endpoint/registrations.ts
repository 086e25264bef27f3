import { resourceName } from '../../domain/change/change.js';
import type { DeliveryTarget } from '../../domain/delivery/delivery.js';
import { type Subscription, toTarget } from '../../domain/delivery/recipients.js';
import type { ChangeRepository } from '../change/changes.js';
import type { EndpointRepository } from './endpoints.js';

/** What an endpoint is and was registered for. */
export class Registrations {
  private readonly endpoints: EndpointRepository;
  private readonly changes: ChangeRepository;

  constructor({ endpoints, changes }: { endpoints: EndpointRepository; changes: ChangeRepository }) {
    this.endpoints = endpoints;
    this.changes = changes;
  }

  /** As it is now; `undefined` if the account has no such endpoint. */
  async now(
    accountId: string,
    endpointId: string,
  ): Promise<{ target: DeliveryTarget; subscription: Subscription } | undefined> {
    const endpoint = await this.endpoints.get(accountId, endpointId);
    return endpoint && { target: toTarget(endpoint), subscription: endpoint };
  }

  /** As it was at a time; `undefined` if it did not exist then, or that is not kept. */
  async at(accountId: string, endpointId: string, time: Date): Promise<Subscription | undefined> {
    const past = await this.changes.stateAt(accountId, resourceName('endpoint', endpointId), time);
    if (past.known) return past.state as Subscription | undefined;
    const endpoint = await this.endpoints.get(accountId, endpointId);
    // Without a change that is kept, it has been as it is since it was last changed.
    return endpoint && Date.parse(endpoint.updated_at) <= time.getTime() ? endpoint : undefined;
  }
}
