import type { Settings } from '../../config/schema.js';
import { UNITS } from '../../domain/basics/duration.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { latestRecordRuns } from '../../temporal/read/records/published-checkpoints.js';
import { plain, print, printJson } from '../client/terminal.js';
import { CommandError, type Values } from '../command.js';
import { createLogger } from '../process/output.js';
import { createCheckpointCopy } from '../service/log/checkpoint-copy.js';
import { createLogSigners } from '../service/log/signers.js';
import { connectServers } from '../service/servers.js';
import { compareLog, type LogCounts, NO_LOG_COUNTS } from './compare-log.js';
import { compareVersions } from './compare-versions.js';
import type { Difference } from './difference.js';

/** Versions this close to their expiry (ms) may already be removed. */
const REMOVAL_EDGE_MS = UNITS.h;
/** A run that has ended has had the log take all that was recorded so long before it began, milliseconds. */
const LOGGED_WITHIN_MS = 15 * UNITS.m;
/** A version that is younger may be still without its change, milliseconds: processes have clocks of their own. */
const BEING_WRITTEN_MS = UNITS.m;
/** Ids about which nothing is reported twice, at most. */
const MAX_TOLD = 10_000;

/**
 * Compares what is stored of events, deliveries and changes with the log, and says every difference and how much was
 * compared.
 *
 * @returns whether there is no difference
 */
export async function verifyRecords(settings: Settings, values: Values): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const isJson = values['json'] === true;
  const begun = new Date(sharedNow() - BEING_WRITTEN_MS);
  const servers = await connectServers(settings);
  try {
    const { temporal, database } = servers;
    const taskQueue = settings.HOOKLINE_TASK_QUEUE;
    const runs = await latestRecordRuns(temporal.client, taskQueue);
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

    const log: LogCounts = { ...NO_LOG_COUNTS };
    const keys = await createLogSigners(settings, database).known();
    const memory = {
      ledger: runs.flatMap(({ checkpoint }) => checkpoint ?? []),
      copy: createCheckpointCopy(settings.HOOKLINE_LOG_COPY),
      abandoned: settings.HOOKLINE_LOG_ABANDONED,
    };
    const [latest] = runs
      .flatMap(({ terminated_until }) => terminated_until ?? [])
      .sort()
      .reverse();
    const loggedBefore = latest === undefined ? undefined : new Date(Date.parse(latest) - LOGGED_WITHIN_MS);
    await tell(compareLog({ database, keys, memory, keptDays, loggedBefore }, log));

    const kept = new Date(sharedNow() - keptDays * UNITS.d + REMOVAL_EDGE_MS);
    await database.changes.collect();
    await tell(compareVersions(database.changes.audit, { from: kept, to: begun }));

    if (isJson) printJson({ type: 'result', log, differences });
    else for (const line of summary(log, differences)) print(line);
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
    if (!(error instanceof LogAlteredError)) throw error;
    yield { id: 'the log', what: `cannot be read any further: ${error.message}` };
  }
}

function summary(log: LogCounts, differences: number): string[] {
  const { deliveries, open, changes, voids, events, leaves, expired, replaced, again, missing, unlogged } =
    log;
  const recorded = leaves - expired - replaced - again - missing;
  return [
    `Records: ${deliveries} closed deliveries, ${events} events, ${changes} changes and ${voids} ranges of void numbers compared with the log. Not in the log yet: ${unlogged}. Open deliveries: ${open}.`,
    `Log: ${recorded} of ${leaves} leaves have their record. Without one: ${expired} past the time that records are kept, ${replaced} replaced by the record of a later run, ${again} appended twice, ${missing} missing.`,
    differences === 0 ? 'No difference.' : `${differences} ${differences === 1 ? 'differs' : 'differ'}.`,
  ];
}

/** How long every record is kept at least by the settings of today, days. */
function keptAtLeast({ HOOKLINE_RECORD_DAYS, HOOKLINE_CHANGES_DAYS }: Settings): number {
  return Math.min(HOOKLINE_RECORD_DAYS.least, HOOKLINE_CHANGES_DAYS);
}

function daysOf(text: Values[string]): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(String(text)))
    throw new CommandError(`--kept-days must be a number of days, not "${String(text)}".`);
  return Number(text);
}
