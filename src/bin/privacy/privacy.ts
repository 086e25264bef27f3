import type { Settings } from '../../config/schema.js';
import { OPERATOR } from '../../domain/change/change.js';
import type { Erasure, ErasurePlan } from '../../domain/privacy/erasure.js';
import type { Database } from '../../models/database.js';
import { startErasure } from '../../temporal/write/privacy/erasures.js';
import { print } from '../client/terminal.js';
import { CommandError } from '../command.js';
import { createLogger } from '../process/output.js';
import { requireBoxes, requireTagBox } from '../process/secrets.js';
import { withDatabase } from '../process/with-database.js';
import { connectServers } from '../service/servers.js';
import { readErasureFile, type SomeErasure, writeErasureFile } from './erasure-file.js';

/**
 * Writes the erasures of all accounts into a file, to be done again after a restore. Readers of the file always find a
 * complete one.
 */
export async function exportErasures(settings: Settings, path: string | undefined): Promise<void> {
  if (!path) throw new CommandError('Name the file: hookline privacy export erasures.ndjson');
  const box = requireTagBox(settings);
  const lines = await withDatabase(
    settings,
    () => ({}),
    (database) => writeErasureFile(path, linesOf(database), box),
  );
  print(`Erasures in ${path}: ${lines}. Keep it apart from the backups; it names nobody.`);
}

/**
 * Does erasures again, after a restore: those of a file, or those that the database itself has recorded, if its keys
 * were restored alone.
 *
 * @returns whether every line of the file was read, to its end
 */
export async function reapplyErasures(settings: Settings, path: string | undefined): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const box = requireTagBox(settings);
  const { database, temporal } = await connectServers(settings);
  const { HOOKLINE_TASK_QUEUE: queue, HOOKLINE_TEST_TIME_SCALE: timings } = settings;
  const start = async (plan: Omit<ErasurePlan, 'origin'>) => {
    const origin = await database.privateInputs.keepOrigin(ORIGIN);
    await startErasure(temporal.client, queue, timings, { ...plan, origin }, true);
  };
  const counts: Record<Reapplied, number> = { applied: 0, begun: 0, already_applied: 0, unknown: 0 };
  const read = path ? readErasureFile(path, box, print) : undefined;
  try {
    for await (const line of read?.lines() ?? linesOf(database)) {
      const result = await reapply(line, database, start);
      counts[result] += 1;
      if (line.type === 'account' && (await database.accounts.get(line.account_id))?.status === 'active')
        print(`${line.account_id} was deleted, and is active again: delete it again with payloads=erase.`);
    }
  } finally {
    await temporal.close();
    await database.close();
  }
  const waiting = counts.begun > 0 ? `, ${counts.begun} wait for open deliveries` : '';
  print(
    `Erasures: ${counts.applied} applied${waiting}, ${counts.already_applied} applied already, ${counts.unknown} unknown here.`,
  );
  if (counts.applied > 0) print('Processes that run read nothing of it any more within 10 seconds.');
  return read?.isWhole() ?? true;
}

/**
 * Wraps every data key with the first of HOOKLINE_WRAPPING_KEYS, and says whether the former keys may be destroyed. It
 * may run while the service does, and goes on where it was cut off.
 *
 * @returns whether no data key needs another one
 */
export async function rotateWrapping(settings: Settings): Promise<boolean> {
  if (!settings.HOOKLINE_WRAPPING_KEYS)
    throw new CommandError(
      'Set HOOKLINE_WRAPPING_KEYS, the new key first. "hookline secret-key" makes one. The keys that wrap data keys without it encrypt other things, too, so they cannot be destroyed.',
    );
  const options = () => ({ ...requireBoxes(settings), keysUri: settings.HOOKLINE_KEYS_MONGODB_URI });
  return withDatabase(settings, options, async (database) => {
    await database.dataKeyHome.require();
    const wrapped = await database.dataKeys.resealAll();
    const left = await database.dataKeys.countOutdated();
    print(`Data keys that were wrapped again: ${wrapped}. Still wrapped by another key: ${left}.`);
    print(
      left === 0
        ? 'Take the former keys out of HOOKLINE_WRAPPING_KEYS of every process, restart them, and run this again. If it says 0 then, destroy every copy of the former keys: what was erased before is final from then on, in copies that they had wrapped.'
        : 'A process still wraps with a former key: restart it with the new key first, and run this again.',
    );
    return left === 0;
  });
}

async function* linesOf({
  accounts,
  erasures,
}: Pick<Database, 'accounts' | 'erasures'>): AsyncIterable<SomeErasure> {
  for await (const { accountId, erasure } of erasures.all())
    yield { type: 'erasure', account_id: accountId, erasure };
  for await (const { id, erasure_requested_at = '' } of accounts.erased())
    yield { type: 'account', account_id: id, erasure_requested_at };
}

/**
 * Outcome of an erasure that was to be done again. `applied`: its key was there and is deleted; `begun`: it waited for
 * open deliveries to end, and does so again; `already_applied`; `unknown`: neither the key nor the erasure was there,
 * so nothing had come back.
 */
type Reapplied = 'applied' | 'begun' | 'already_applied' | 'unknown';

const ORIGIN = { ...OPERATOR, reason: 'Done again after a restore.' };

/**
 * Does one erasure again. It can be repeated, and goes on wherever it was cut off.
 *
 * @param start starts the workflow that erases a subject, also if it has been done before
 */
export async function reapply(
  line: SomeErasure,
  { dataKeys, erasures }: Pick<Database, 'dataKeys' | 'erasures'>,
  start: (plan: Omit<ErasurePlan, 'origin'>) => Promise<void>,
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
  // Restored data may not record that its key was erased.
  await dataKeys.erase(account_id, erasure.key.id);
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

function planOf(account_id: string, erasure: Erasure): Omit<ErasurePlan, 'origin'> {
  const { id, key, open, requested_at } = erasure;
  return {
    account_id,
    erasure_id: id,
    key_id: key.id,
    key_created_at: key.created_at,
    open: erasure.erased_at === undefined ? open : 'cancel',
    requested_at,
  };
}
