import type { Settings } from '../../config/schema.js';
import { connectDatabase, type Database } from '../../models/database.js';
import { startErasure } from '../../temporal/write/privacy/erasures.js';
import { CommandError } from '../command.js';
import { createLogger, say } from '../process/output.js';
import { requireBoxes, requireTagBox } from '../process/secrets.js';
import { requireServers } from '../process/server-settings.js';
import { type Reapplied, reapply } from '../service/privacy/reapply.js';
import { connectServers } from '../service/servers.js';
import { ErasureFile, type SomeErasure, writeErasureFile } from './erasure-file.js';

/** Writes the erasures of all accounts into a file, to be done again after a restore. Who reads the file finds a whole one. */
export async function exportErasures(settings: Settings, path: string | undefined): Promise<void> {
  if (!path) throw new CommandError('Name the file: hookline privacy export erasures.ndjson');
  const box = requireTagBox(settings);
  const database = await connectDatabase(requireServers(settings).mongodbUri);
  try {
    const lines = await writeErasureFile(path, linesOf(database), box);
    say(`Erasures in ${path}: ${lines}. Keep it apart from the backups; it names nobody.`);
  } finally {
    await database.close();
  }
}

/**
 * Does erasures again, after a restore: those of a file, or those that the database itself has recorded, if its keys were restored alone.
 *
 * @returns whether every line of the file was read, to its end
 */
export async function reapplyErasures(settings: Settings, path: string | undefined): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const box = requireTagBox(settings);
  const { database, temporal } = await connectServers(settings);
  const { HOOKLINE_TASK_QUEUE: queue, HOOKLINE_TEST_TIME_SCALE: timings } = settings;
  const ports = {
    database,
    start: (plan: Parameters<typeof startErasure>[3]) =>
      startErasure(temporal.client, queue, timings, plan, true),
  };
  const counts: Record<Reapplied, number> = { applied: 0, begun: 0, already_applied: 0, unknown: 0 };
  const read = path ? new ErasureFile(path, box, say) : undefined;
  try {
    for await (const line of read ?? linesOf(database)) {
      const result = await reapply(line, ports);
      counts[result] += 1;
      if (line.type === 'account' && (await database.accounts.get(line.account_id))?.status === 'active')
        say(`${line.account_id} was deleted, and is active again: delete it again with payloads=erase.`);
    }
  } finally {
    await temporal.close();
    await database.close();
  }
  const waiting = counts.begun > 0 ? `, ${counts.begun} wait for open deliveries` : '';
  say(
    `Erasures: ${counts.applied} applied${waiting}, ${counts.already_applied} applied already, ${counts.unknown} unknown here.`,
  );
  if (counts.applied > 0) say('Processes that run read nothing of it any more within 10 seconds.');
  return read?.isWhole() ?? true;
}

/**
 * Wraps every data key with the first of HOOKLINE_WRAPPING_KEYS, and says whether the former keys may be destroyed. It may run while the service does, and
 * goes on where it was cut off.
 *
 * @returns whether no data key needs another one
 */
export async function rotateWrapping(settings: Settings): Promise<boolean> {
  if (!settings.HOOKLINE_WRAPPING_KEYS)
    throw new CommandError(
      'Set HOOKLINE_WRAPPING_KEYS, the new key first. "hookline secret-key" makes one. The keys that wrap data keys without it encrypt other things, too, so they cannot be destroyed.',
    );
  const { mongodbUri, keysUri } = requireServers(settings);
  const database = await connectDatabase(mongodbUri, { ...requireBoxes(settings), keysUri });
  try {
    await database.dataKeyHome.require();
    const wrapped = await database.dataKeys.resealAll();
    const left = await database.dataKeys.countOutdated();
    say(`Data keys that were wrapped again: ${wrapped}. Still wrapped by another key: ${left}.`);
    say(
      left === 0
        ? 'Take the former keys out of HOOKLINE_WRAPPING_KEYS of every process, restart them, and run this again. If it says 0 then, destroy every copy of the former keys: what was erased before is final from then on, in copies that they had wrapped.'
        : 'A process still wraps with a former key: restart it with the new key first, and run this again.',
    );
    return left === 0;
  } finally {
    await database.close();
  }
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
