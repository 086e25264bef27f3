import type { DeliveryTarget } from '../../../domain/delivery/delivery.js';
import type { Subscription } from '../../../domain/delivery/recipients.js';

/** What an endpoint is and was registered for: kept elsewhere than in the ledger. */
export interface Registrations {
  /** As it is; `undefined` if the account has no such endpoint. */
  now(
    accountId: string,
    endpointId: string,
  ): Promise<{ target: DeliveryTarget; subscription: Subscription } | undefined>;
  /** As it was at a time; `undefined` if it did not exist then, or that is not kept. */
  at(accountId: string, endpointId: string, time: Date): Promise<Subscription | undefined>;
}
