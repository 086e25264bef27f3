import DataLoader from 'dataloader';
import { isOperational } from '../../domain/event/event-kinds.js';
import type { Timings } from '../../domain/timings.js';
import { ShortCache } from '../mongo/short-cache.js';
import type { StoredEndpoint } from './endpoint-document.js';

/** The most endpoints that are read by one query that names them. */
export const MAX_READ_TOGETHER = 200;

/** Reads those that there are of an account, oldest first, or of some ids, in any order. */
type Read = (
  which: { account_id: string } | { _id: { $in: readonly string[] } },
) => Promise<StoredEndpoint[]>;

/** A process's memory of endpoints, so that attempts and events do not each ask the database. */
export class EndpointCache {
  private readonly single: ShortCache<StoredEndpoint | undefined>;
  private readonly lists: ShortCache<Map<string, StoredEndpoint>>;
  private readonly watchers: ShortCache<StoredEndpoint[]>;
  private readonly read: Read;
  /** Thousands of endpoints may be attempted at once: those that are asked for at the same moment are read together. */
  private readonly together = new DataLoader<string, StoredEndpoint | undefined>(
    async (ids) => {
      const found = new Map(
        (await this.read({ _id: { $in: ids } })).map((endpoint) => [endpoint.id, endpoint]),
      );
      return ids.map((id) => found.get(id));
    },
    { cache: false, maxBatchSize: MAX_READ_TOGETHER, batchScheduleFn: setImmediate },
  );

  constructor(read: Read, { resource_lifetime_ms, watchers_lifetime_ms }: Timings) {
    this.single = new ShortCache(resource_lifetime_ms);
    this.lists = new ShortCache(resource_lifetime_ms);
    this.watchers = new ShortCache(watchers_lifetime_ms);
    this.read = read;
  }

  /** @returns the endpoint, whose account may be another one */
  async get(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    // An event to thousands of endpoints has just read them all.
    const list = await this.lists.peek(accountId);
    return list?.get(endpointId) ?? this.single.get(endpointId, () => this.together.load(endpointId));
  }

  /** All endpoints of an account, oldest first. */
  async all(accountId: string): Promise<StoredEndpoint[]> {
    return [...(await this.list(accountId)).values()];
  }

  /** The endpoints of an account that are registered for operational events. */
  watchersOf(accountId: string): Promise<StoredEndpoint[]> {
    return this.watchers.get(accountId, async () =>
      (await this.all(accountId)).filter(({ event_kinds }) => event_kinds.some(isOperational)),
    );
  }

  /**
   * This process has changed an endpoint, or found that it is not what it was thought to be.
   *
   * @param endpoint as it is now; absent if it was not changed
   * @param isNewVersion what its owner sets may be different, not only what is noted of it
   */
  changed(endpointId: string, endpoint: StoredEndpoint | undefined, isNewVersion: boolean): void {
    this.single.forget(endpointId);
    if (!endpoint) return;
    const { account_id } = endpoint;
    // Not forgotten: where many endpoints begin to fail together, each would have the account's whole list read again.
    // After two simultaneous updates, the cached list may keep the earlier one until it expires: as if another process
    // had made them.
    this.lists.change(account_id, (all) => all.set(endpointId, endpoint));
    if (isNewVersion) this.watchers.forget(account_id);
  }

  /** This process has made or deleted an endpoint. */
  forget(accountId: string, endpointId: string): void {
    this.single.forget(endpointId);
    this.lists.forget(accountId);
    this.watchers.forget(accountId);
  }

  private list(accountId: string): Promise<Map<string, StoredEndpoint>> {
    return this.lists.get(
      accountId,
      async () =>
        new Map((await this.read({ account_id: accountId })).map((endpoint) => [endpoint.id, endpoint])),
    );
  }
}
