import type { Change } from '../../../domain/change/change.js';
import type { Database } from '../../../models/database.js';

/**
 * Changes whose actors have the names that people know them by, as they are now.
 *
 * @param accountId names only what is this account's: what a platform or the operator calls its keys is nobody else's business; absent: all, for the
 *   operator alone
 */
export async function withNames<T extends Change>(
  { holders }: Pick<Database, 'holders'>,
  changes: readonly T[],
  accountId?: string,
): Promise<T[]> {
  const names = await holders.namesOf(
    changes.map(({ actor }) => actor.id),
    accountId,
  );
  return changes.map((change) => {
    const name = names.get(change.actor.id);
    return name ? { ...change, actor: { ...change.actor, name } } : change;
  });
}
