import type {
  AccountDeletion,
  AccountRemoval,
  DeletionRequest,
  EndedDeliveries,
} from '../../src/domain/access/account-deletion.js';
import { whileBeating } from '../while-beating.js';

/** The steps of an account's deletion. Each can be repeated: what has been done is not done again. */
export function createAccountActivities({ accounts }: { accounts: AccountRemoval }) {
  return {
    /** Closes the account and ends everything that gives access to it. @returns how many credentials have ended */
    endAccess: (request: DeletionRequest): Promise<number> => whileBeating(() => accounts.endAccess(request)),

    /** Removes some endpoints. @returns their ids; none if there is none left */
    removeEndpoints: (request: DeletionRequest): Promise<string[]> =>
      whileBeating(() => accounts.removeEndpoints(request)),

    /**
     * Cancels a page of the deliveries that are open.
     *
     * @param cursor `next` of the page before, `null` for the first one
     */
    endOpenDeliveries: (request: DeletionRequest, cursor: unknown): Promise<EndedDeliveries> =>
      whileBeating(() => accounts.endOpenDeliveries(request, cursor ?? undefined)),

    /** Deletes the data keys of all payloads. @returns how many there were */
    eraseAccountPayloads: (request: DeletionRequest): Promise<number> =>
      whileBeating(() => accounts.erasePayloads(request)),

    /** Ends what watches the endpoints, and marks the account as deleted. */
    finishDeletion: (request: DeletionRequest, deletion: AccountDeletion): Promise<void> =>
      whileBeating(() => accounts.finish(request, deletion)),
  };
}
