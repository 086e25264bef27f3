import type { ErasureLine } from '../../../domain/archive/erasure-line.js';
import { OPERATOR } from '../../../domain/change/change.js';
import type { Erasure, ErasurePlan } from '../../../domain/privacy/erasure.js';
import type { Database } from '../../../models/database.js';

/**
 * What became of an erasure that was to be done again. `applied`: its key was there and is deleted; `begun`: it waited for open deliveries to end, and does so
 * again; `already_applied`; `unknown`: neither the key nor the erasure was there, so nothing had come back.
 */
export type Reapplied = 'applied' | 'begun' | 'already_applied' | 'unknown';

const ORIGIN = { ...OPERATOR, reason: 'Done again after a restore.' };

/** What it takes to do erasures again. */
export interface ReapplyPorts {
  database: Pick<Database, 'dataKeys' | 'erasures'>;
  /** Starts the workflow that erases a subject, also if it has been done before. */
  start(plan: ErasurePlan): Promise<void>;
}

/** Does one erasure again. It can be repeated, and goes on wherever it was cut off. */
export async function reapply(
  line: Exclude<ErasureLine, { type: 'end' }>,
  { database: { dataKeys, erasures }, start }: ReapplyPorts,
): Promise<Reapplied> {
  const { account_id } = line;
  if (line.type === 'account')
    return (await dataKeys.eraseAll(account_id)) > 0 ? 'applied' : 'already_applied';
  const { erasure } = line;
  const hasKey = await dataKeys.has(account_id, erasure.key.id);
  if (erasure.erased_at === undefined && hasKey) {
    // It had not come to deleting the key yet: it waits for what is open, as it was asked to.
    await start(planOf(account_id, erasure));
    return 'begun';
  }
  if (hasKey) {
    await erasures.reapply(account_id, erasure, ORIGIN);
    await dataKeys.erase(account_id, erasure.key.id);
    await start(planOf(account_id, erasure));
    return 'applied';
  }
  const known = await erasures.get(account_id, erasure.id);
  if (!known) {
    await erasures.restore(account_id, erasure, ORIGIN);
    // One that waited for open deliveries comes to its end.
    if (erasure.status !== 'complete') await start(planOf(account_id, erasure));
    return 'unknown';
  }
  // Something was cut off between the deletion of the key and the end of what is open.
  if (known.status !== 'complete') await start(planOf(account_id, erasure));
  return 'already_applied';
}

function planOf(account_id: string, erasure: Erasure): ErasurePlan {
  const { id, key, open, requested_at } = erasure;
  return {
    account_id,
    erasure_id: id,
    key_id: key.id,
    key_created_at: key.created_at,
    open: erasure.erased_at === undefined ? open : 'cancel',
    requested_at,
    origin: ORIGIN,
  };
}
