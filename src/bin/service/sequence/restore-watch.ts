import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { openedBy, originOf, sizeOf } from '../../../../packages/tlog/src/index.js';
import type { Settings } from '../../../config/schema.js';
import { LogCopyError } from '../../../domain/log/checkpoint-copy.js';
import { LogAlteredError } from '../../../domain/log/log-altered.js';
import { publishedCheckpoints } from '../../../temporal/read/records/published-checkpoints.js';
import { executionWithoutEvent } from '../../../temporal/read/sequence/unknown-executions.js';
import { createCheckpointCopy } from '../log/checkpoint-copy.js';
import { createLogSigners } from '../log/signers.js';
import type { Servers } from '../servers.js';

/** Notices that MongoDB is older than what stands outside of it. */
export type RestoreWatch = ReturnType<typeof createRestoreWatch>;

/** Sign that MongoDB is older. */
interface Sign {
  id: string;
  why: string;
}

/**
 * Looks, before this process gives or settles a number, whether MongoDB was restored: then events that had numbers are
 * gone, and the next ones must be above theirs. The log's checkpoints say so, and executions of events that are gone.
 */
export function createRestoreWatch(
  settings: Settings,
  { database, temporal }: Pick<Servers, 'database' | 'temporal'>,
  logger: Pick<Logger, 'error' | 'warn'>,
) {
  const { log, events, sequences } = database;
  const { restores } = sequences;
  const copy = createCheckpointCopy(settings.HOOKLINE_LOG_COPY);
  const signers = createLogSigners(settings, database);
  const stored = {
    stored: (ids: readonly string[]) => events.stored(ids),
    carrying: (...asked: Parameters<typeof sequences.events.carrying>) => sequences.events.carrying(...asked),
  };
  let isCopyRead = copy === undefined;
  let looked: Promise<void> | undefined;

  /** An installation does not stand still because the copy cannot be read: it is asked again. */
  const readCopy = async (): Promise<string[]> => {
    try {
      const note = await copy?.read();
      isCopyRead = true;
      return note === undefined ? [] : [note];
    } catch (error) {
      if (!(error instanceof LogCopyError)) throw error;
      logger.warn(
        `Whether MongoDB was restored is told by Temporal alone until it can be read: ${error.message}.`,
      );
      return [];
    }
  };

  /** How many records the log has by checkpoints that stand outside of MongoDB; 0 if there is none. */
  const sizeOutside = async (): Promise<number> => {
    const notes = [
      ...(await publishedCheckpoints(temporal.client, settings.HOOKLINE_TASK_QUEUE)),
      ...(await readCopy()),
    ];
    if (notes.length === 0) return 0;
    const known = await signers.known();
    // The key of an abandoned log may be gone.
    const counts = (note: string) =>
      settings.HOOKLINE_LOG_ABANDONED.includes(originOf(note)) || openedBy(note, known) !== undefined;
    return Math.max(0, ...notes.filter(counts).map(sizeOf));
  };

  const signOf = async (): Promise<Sign | undefined> => {
    const noted = await restores.all();
    const outside = await sizeOutside();
    const isNoted = noted.some(({ id }) => Number(/^log:(\d+)$/.exec(id)?.[1]) >= outside);
    const here = outside > 0 && !isNoted ? await sizeHere() : Number.POSITIVE_INFINITY;
    if (here < outside)
      return {
        id: `log:${outside}`,
        why: `a checkpoint of ${outside} records was signed, and MongoDB has ${here}`,
      };
    const { client } = temporal;
    const since = noted.at(-1)?.at;
    const execution = await executionWithoutEvent(client, settings.HOOKLINE_TASK_QUEUE, stored, since);
    return (
      execution && {
        id: `execution:${execution.runId}`,
        why: `Temporal has ${execution.workflowId}, of which MongoDB has no event`,
      }
    );
  };

  /** A log that cannot be read is told of by who signs it. */
  const sizeHere = (): Promise<number> =>
    log.size().catch((error: unknown) => {
      if (!(error instanceof LogAlteredError)) throw error;
      return Number.POSITIVE_INFINITY;
    });

  /** Looks now. */
  const look = async (): Promise<void> => {
    if (!(await signOf())) return;
    // For a moment after a failover reads of MongoDB can be behind what was acknowledged.
    await wait(settings.HOOKLINE_TEST_TIME_SCALE.log_looks_again_ms);
    const sign = await signOf();
    if (!sign) return;
    await restores.note(sign.id, `MongoDB was restored: ${sign.why}`);
    logger.error(
      `MongoDB was restored: ${sign.why}. Numbers of events go on above all that can have been given.`,
    );
  };

  /** Looks unless this process has looked. @throws Error if it cannot look: then no number is given */
  const hasLooked = (): Promise<void> => {
    looked ??= look().catch((error: unknown) => {
      looked = undefined;
      throw error;
    });
    return looked;
  };

  return {
    hasLooked,
    look,
    /** Looks, unless this process has looked at everything. */
    goOn: (): Promise<void> => (isCopyRead ? hasLooked() : look()),
  };
}
