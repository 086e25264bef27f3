import { setTimeout as wait } from 'node:timers/promises';
import type { LogWrites } from '../../../../activities/ports.js';
import type { Settings } from '../../../config/schema.js';
import { canonicalJson, voidRecord } from '../../../domain/archive/record.js';
import { LogAlteredError } from '../../../domain/log/log-altered.js';
import { publishedCheckpoints } from '../../../temporal/read/archive/published-checkpoints.js';
import { settleNumbers } from '../sequence/settle-numbers.js';
import type { Servers } from '../servers.js';
import { createChangeAppender } from './change-appender.js';
import { createCheckpointCopy } from './checkpoint-copy.js';
import type { LogWatch } from './log-watch.js';
import { createLogSigners } from './signers.js';
import { createStamp } from './timestamps.js';
import { createCosign, parseWitnesses } from './witnesses.js';

/** Ranges of void numbers that are appended at once. */
const VOIDS_AT_ONCE = 500;

/**
 * Completes the log: archived deliveries are appended as they are archived, and changes here. Nothing is signed that
 * something outside MongoDB contradicts.
 */
export function createLogWriter(
  settings: Settings,
  { database, temporal }: Servers,
  watch: LogWatch,
): LogWrites {
  const { log, sequences } = database;
  const { client } = temporal;
  const { signers, known } = createLogSigners(settings, database);
  const copy = createCheckpointCopy(settings.HOOKLINE_LOG_COPY);
  const cosign = createCosign(parseWitnesses(settings.HOOKLINE_LOG_WITNESSES), watch.notCosigned);
  const stamp = createStamp(settings, watch);
  const abandoned = settings.HOOKLINE_LOG_ABANDONED;

  /**
   * Tells people of a log that was altered, besides failing. It looks twice: for a moment after a failover the new
   * primary's reads of majority concern can be behind what was acknowledged.
   */
  const watched = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof LogAlteredError)) throw error;
    }
    await wait(settings.HOOKLINE_TEST_TIME_SCALE.log_looks_again_ms);
    try {
      return await act();
    } catch (error) {
      if (error instanceof LogAlteredError) await watch.refused(error);
      throw error;
    }
  };

  const appendSome = createChangeAppender(database, watch, settings.HOOKLINE_TEST_TIME_SCALE);

  return {
    async appendChanges() {
      const appended = await appendSome();
      await settleNumbers({ database });
      const voids = await sequences.unlogged(VOIDS_AT_ONCE);
      const leaves = await log.append(voids.map((one) => canonicalJson(voidRecord(one))));
      await sequences.logged(new Map(voids.map(({ id }, at) => [id, leaves[at] ?? -1])));
      return appended + voids.length;
    },
    audit: (until) => watched(async () => log.audit(await known(), until)),
    publish: (last) =>
      watched(async () => {
        // Before MongoDB is read, which is never behind what Temporal has.
        const recorded = await publishedCheckpoints(client, settings.HOOKLINE_TASK_QUEUE);
        const ledger = [...(last === undefined ? [] : [last]), ...recorded];
        const memory = { known: await known(), ledger, copy, cosign, stamp, abandoned };
        const { size, note } = await log.publish(await signers(), memory);
        watch.signed(size);
        return { size, checkpoint: note };
      }),
  };
}
