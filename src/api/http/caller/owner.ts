import type { Owner } from '../../payloads/fair-queue.js';
import type { Context } from '../context.js';

/** Who the work of a request is done for. */
export function ownerOf({ state: { caller, account } }: Pick<Context, 'state'>): Owner {
  const { account_id } = caller;
  return { account: account_id, platform: account?.platform_id ?? account_id };
}
