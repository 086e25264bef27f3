import { open, rename, rm } from 'node:fs/promises';
import type { Settings } from '../../config/schema.js';
import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import {
  type ErasureLine,
  ErasureLineError,
  MAX_ERASURE_LINE,
  readErasureLine,
  writeErasureLine,
} from '../../domain/privacy/erasure-line.js';
import { connectDatabase, type Database } from '../../models/database.js';
import { startErasure } from '../../temporal/write/privacy/erasures.js';
import { CommandError } from '../command.js';
import { createLogger, say } from '../process/output.js';
import { requireBoxes } from '../process/secrets.js';
import { requireServers } from '../process/server-settings.js';
import { withServersOfDev } from '../process/settings-of-dev.js';
import { type Reapplied, reapply } from '../service/privacy/reapply.js';
import { connectServers } from '../service/servers.js';
import { linesOfFile } from './lines-of-file.js';

/** Lines that are refused which are told one by one. */
const REFUSED_TOLD = 10;

/** Writes the erasures of all accounts into a file, to be done again after a restore. Who reads the file finds a whole one. */
export async function exportErasures(given: Settings, path: string | undefined): Promise<void> {
  if (!path) throw new CommandError('Name the file: hookline privacy export erasures.ndjson');
  const settings = await withServersOfDev(given);
  const { keyBox } = requireBoxes(settings);
  const database = await connectDatabase(requireServers(settings).mongodbUri);
  try {
    const lines = await writeLines(path, linesOf(database), keyBox);
    say(`${lines} erasures in ${path}. Keep it apart from the backups; it names nobody.`);
  } finally {
    await database.close();
  }
}

/**
 * Does erasures again, after a restore: those of a file, or those that the database itself has recorded, if its keys were restored alone.
 *
 * @returns whether every line of the file was read, to its end
 */
export async function reapplyErasures(given: Settings, path: string | undefined): Promise<boolean> {
  const settings = await withServersOfDev(given);
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const { keyBox } = requireBoxes(settings);
  const { database, temporal } = await connectServers(settings);
  const { HOOKLINE_TASK_QUEUE: queue, HOOKLINE_TEST_TIME_SCALE: timings } = settings;
  const ports = {
    database,
    start: (plan: Parameters<typeof startErasure>[3]) =>
      startErasure(temporal.client, queue, timings, plan, true),
  };
  const counts: Record<Reapplied, number> = { applied: 0, begun: 0, already_applied: 0, unknown: 0 };
  const read = path ? new LineReader(path, keyBox) : undefined;
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
  const waiting = counts.begun > 0 ? `, ${counts.begun} begun again that wait for open deliveries` : '';
  say(
    `${counts.applied} erasures applied${waiting}, ${counts.already_applied} already applied, ${counts.unknown} unknown here.`,
  );
  if (counts.applied > 0) say('Processes that run read nothing of it any more within 10 seconds.');
  return read?.isWhole() ?? true;
}

type SomeErasure = Exclude<ErasureLine, { type: 'end' }>;

async function* linesOf({ accounts, erasures }: Pick<Database, 'accounts' | 'erasures'>): AsyncIterable<SomeErasure> {
  for await (const { accountId, erasure } of erasures.all())
    yield { type: 'erasure', account_id: accountId, erasure };
  for await (const { id, erasure_requested_at = '' } of accounts.erased())
    yield { type: 'account', account_id: id, erasure_requested_at };
}

/** @returns how many there were */
async function writeLines(path: string, lines: AsyncIterable<SomeErasure>, box: SecretBox): Promise<number> {
  const beside = `${path}.${process.pid}.new`;
  const file = await open(beside, 'w', 0o600);
  let count = 0;
  try {
    for await (const line of lines) {
      await file.write(`${writeErasureLine(line, box)}\n`);
      count += 1;
    }
    const end = { type: 'end', lines: count, exported_at: new Date().toISOString() } as const;
    await file.write(`${writeErasureLine(end, box)}\n`);
    await file.sync();
    await file.close();
    await rename(beside, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(beside, { force: true });
    throw error;
  }
  return count;
}

/** Reads a file of erasures line by line, and says which lines it refuses. */
class LineReader implements AsyncIterable<SomeErasure> {
  private readonly path: string;
  private readonly box: SecretBox;
  private read = 0;
  private refused = 0;
  private end: { lines: number; exported_at: string } | undefined;

  constructor(path: string, box: SecretBox) {
    this.path = path;
    this.box = box;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<SomeErasure> {
    let number = 0;
    for await (const text of linesOfFile(this.path, MAX_ERASURE_LINE)) {
      number += 1;
      const line = this.lineIn(text, number);
      if (line?.type === 'end') this.end = line;
      else if (line) {
        this.read += 1;
        yield line;
      }
    }
  }

  /** Says what is missing. @returns whether nothing is */
  isWhole(): boolean {
    if (this.refused > 0) say(`${this.refused} lines were refused: nothing was done because of them.`);
    if (!this.end) say('The file has no end: a part of it is missing. Apply a whole one as well.');
    else if (this.end.lines !== this.read)
      say(`The file was written with ${this.end.lines} erasures, of which ${this.read} were read. Apply a whole one as well.`);
    return this.refused === 0 && this.end?.lines === this.read;
  }

  private lineIn(text: string | undefined, number: number): ErasureLine | undefined {
    try {
      if (text === undefined) throw new ErasureLineError(`it is longer than ${MAX_ERASURE_LINE} characters`);
      return readErasureLine(text, this.box);
    } catch (error) {
      if (!(error instanceof ErasureLineError || error instanceof SealError)) throw error;
      this.refused += 1;
      if (this.refused <= REFUSED_TOLD) say(`Line ${number} is refused: ${error.message}.`);
      return undefined;
    }
  }
}
