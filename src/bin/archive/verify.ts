import type { Settings } from '../../config/schema.js';
import { isLogAltered } from '../../domain/log/log-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { ClosedExecutionFinder } from '../../temporal/read/archive/closed-windows.js';
import { publishedCheckpoints } from '../../temporal/read/archive/published-checkpoints.js';
import { plain, print, printJson } from '../client/terminal.js';
import { CommandError, type Values } from '../command.js';
import { createLogger } from '../process/output.js';
import { createCheckpointCopy } from '../service/log/checkpoint-copy.js';
import { createLogSigners } from '../service/log/signers.js';
import { connectServers } from '../service/servers.js';
import { compareLedger, type LedgerCounts } from './compare-ledger.js';
import { compareLog, type LogCounts, NO_LOG_COUNTS } from './compare-log.js';
import { compareVersions } from './compare-versions.js';
import type { Difference } from './difference.js';
import { Held } from './held.js';

const DAY_MS = 24 * 3_600_000;
/** Of what closed so near to the end of Temporal's retention it may have removed some already, milliseconds. */
const RETENTION_EDGE_MS = 3_600_000;
/**
 * A run of the archive that has ended has appended all changes that were made so long before what it archived,
 * milliseconds.
 */
const LOGGED_WITHIN_MS = 15 * 60_000;
/** A version that is younger may be still without its change, milliseconds: processes have clocks of their own. */
const BEING_WRITTEN_MS = 60_000;
/** What is told once of an id is not told again, of as many ids. */
const MAX_TOLD = 10_000;

/**
 * Compares ledger, archive and log, each with the others, and says every difference, how much was compared, and why not
 * the rest.
 *
 * @returns whether there is no difference
 */
export async function verifyArchive(settings: Settings, values: Values): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const isJson = values['json'] === true;
  const begun = new Date(sharedNow() - BEING_WRITTEN_MS);
  const servers = await connectServers(settings);
  try {
    const { archive } = servers.database;
    const upTo = await archive.upTo();
    if (!upTo) throw new CommandError('Nothing is archived yet: no run of the archive has ended.');
    const retained = new Date(upTo.getTime() - settings.HOOKLINE_RETENTION_DAYS * DAY_MS);
    const start = timeOf('--from', values['from']) ?? retained;
    const asked = timeOf('--to', values['to']) ?? upTo;
    const end = asked < upTo ? asked : upTo;
    const keptDays = daysOf(values['kept-days']) ?? keptAtLeast(settings);
    const told = new Set<string>();
    let differences = 0;
    const tell = async (some: AsyncIterable<Difference>) => {
      for await (const { id, what } of untilUnreadable(some)) {
        if (told.has(id)) continue;
        if (told.size < MAX_TOLD) told.add(id);
        differences += 1;
        if (isJson) printJson({ type: 'difference', id, what });
        else print(`${plain(id)}  ${plain(what)}`);
      }
    };

    const ledger: LedgerCounts = { compared: 0, inOpenGroups: 0, open: 0, later: 0, removed: 0 };
    const held = new Held();
    const { temporal, sealer } = servers;
    const taskQueue = settings.HOOKLINE_TASK_QUEUE;
    const finder = new ClosedExecutionFinder({ client: temporal.client, taskQueue, sealer, archive });
    const lookedAgainUpTo = (await archive.secondLook())?.from;
    await tell(compareLedger(finder, archive, { start, end, upTo, lookedAgainUpTo }, ledger, held));

    const log: LogCounts = { ...NO_LOG_COUNTS };
    const edge = new Date(sharedNow() - settings.HOOKLINE_RETENTION_DAYS * DAY_MS + RETENTION_EDGE_MS);
    const from = start > edge ? start : edge;
    const keys = await createLogSigners(settings, servers.database).known();
    const memory = {
      ledger: await publishedCheckpoints(temporal.client, taskQueue),
      copy: createCheckpointCopy(settings.HOOKLINE_LOG_COPY),
      abandoned: settings.HOOKLINE_LOG_ABANDONED,
    };
    const loggedBefore = new Date(upTo.getTime() - LOGGED_WITHIN_MS);
    const { database } = servers;
    const compared = { database, keys, memory, keptDays, loggedBefore };
    await tell(compareLog({ ...compared, ledger: { held, from, to: end } }, log));

    const kept = new Date(sharedNow() - keptDays * DAY_MS + RETENTION_EDGE_MS);
    await database.changes.collect();
    await tell(compareVersions(database.changes.audit, { from: kept, to: begun }));

    if (isJson) printJson({ type: 'result', from: start, to: end, ledger, log, differences });
    else for (const line of summary(start, end, ledger, log, differences)) print(line);
    return differences === 0;
  } finally {
    await servers.temporal.close();
    await servers.database.close();
  }
}

/** A log that cannot be read ends one comparison, as a difference, and not the others. */
async function* untilUnreadable(some: AsyncIterable<Difference>): AsyncIterable<Difference> {
  try {
    yield* some;
  } catch (error) {
    if (!isLogAltered(error)) throw error;
    yield { id: 'the log', what: `cannot be read any further: ${error.message}` };
  }
}

function summary(
  start: Date,
  end: Date,
  { compared, inOpenGroups, open, later, removed }: LedgerCounts,
  log: LogCounts,
  differences: number,
): string[] {
  const all = compared + open + later + removed;
  const reasons = [
    `${open} are open`,
    `${later} closed after that, or a moment before`,
    ...(removed > 0 ? [`${removed} were removed by Temporal meanwhile`] : []),
  ];
  const { deliveries, changes, voids, events, leaves, expired, replaced, again, missing, unlogged } = log;
  const recorded = leaves - expired - replaced - again - missing;
  return [
    `Temporal: ${compared} of ${all} deliveries compared with the archive, of those that closed from ${start.toISOString()} until ${end.toISOString()}; ${inOpenGroups} of them in groups that are still open. Not compared: ${reasons.join(', ')}.`,
    `Archive: ${deliveries} deliveries, ${events} events, ${changes} changes and ${voids} ranges of void numbers compared with the log. Not in the log yet: ${unlogged}.`,
    `Log: ${recorded} of ${leaves} leaves have their record. Without one: ${expired} past the time that records are kept, ${replaced} replaced by the record of a later run, ${again} appended twice, ${missing} missing.`,
    differences === 0 ? 'No difference.' : `${differences} ${differences === 1 ? 'differs' : 'differ'}.`,
  ];
}

/** How long every record is kept at least by the settings of today, days. */
function keptAtLeast({ HOOKLINE_ARCHIVE_DAYS, HOOKLINE_CHANGES_DAYS }: Settings): number {
  return Math.min(HOOKLINE_ARCHIVE_DAYS.least, HOOKLINE_CHANGES_DAYS);
}

function timeOf(option: string, text: Values[string]): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(String(text));
  if (Number.isNaN(time.getTime()))
    throw new CommandError(`${option} must be a time such as 2026-01-31T12:00:00Z, not "${String(text)}".`);
  return time;
}

function daysOf(text: Values[string]): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(String(text)))
    throw new CommandError(`--kept-days must be a number of days, not "${String(text)}".`);
  return Number(text);
}
