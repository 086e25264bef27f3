import { setTimeout as wait } from 'node:timers/promises';
import type { LogWrites } from '../../../../activities/records/append-to-log.js';
import type { Settings } from '../../../config/schema.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { LogAlteredError } from '../../../domain/log/log-altered.js';
import { canonicalJson, voidRecord } from '../../../domain/records/record.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { publishedCheckpoints } from '../../../temporal/read/records/published-checkpoints.js';
import type { RestoreWatch } from '../sequence/restore-watch.js';
import { settleNumbers } from '../sequence/settle-numbers.js';
import type { Servers } from '../servers.js';
import { createChangeAppender } from './change-appender.js';
import { createCheckpointCopy } from './checkpoint-copy.js';
import { createTeller, type LogWatch } from './log-watch.js';
import { createSegmentAppender } from './segment-appender.js';
import { createLogSigners } from './signers.js';
import { createStamp } from './timestamps.js';
import { createCosign, parseWitnesses } from './witnesses.js';

/** People are told of a restore for so long after it was noticed, whichever process starts meanwhile, milliseconds. */
const TOLD_FOR_MS = UNITS.d;

/**
 * Completes the log: it takes the segments of closed deliveries, and makes those of changes and void numbers. Nothing
 * is signed that something outside MongoDB contradicts.
 */
export function createLogWriter(
  settings: Settings,
  { database, temporal }: Servers,
  watch: LogWatch,
  restores: RestoreWatch,
): LogWrites {
  const { ends, log, sequences } = database;
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
      if (error instanceof LogAlteredError) {
        await watch.refused(error);
        // It may have been restored while this process ran.
        await restores.look();
      }
      throw error;
    }
  };

  const segments = createSegmentAppender(database, watch);
  const appendSome = createChangeAppender(database, segments, watch, settings.HOOKLINE_TEST_TIME_SCALE);

  const tell = createTeller(watch);
  /** @returns how many were appended */
  const appendVoids = async (): Promise<number> => {
    let appended = 0;
    for await (const some of sequences.voids.unlogged()) {
      const right = some.filter(({ wrong }) => wrong === undefined);
      const numbers = await segments.append(
        right.map((one) => ({ name: one.id, record: canonicalJson(voidRecord(one)) })),
      );
      await sequences.voids.logged(numbers);
      appended += right.length;
      for (const { id, wrong } of some)
        if (wrong !== undefined) await tell('void_altered', `the range of void numbers ${id}`, wrong);
    }
    return appended;
  };

  const tellOfEnds = async (): Promise<void> => {
    for await (const { id, wrong } of ends.altered()) await tell('end_altered', `the end ${id}`, wrong);
  };

  /** Settles numbers, unless what they are settled by may be older than they are, and tells of restores. */
  const settle = async (): Promise<void> => {
    await restores.goOn();
    const since = sharedNow() - TOLD_FOR_MS;
    for (const { id, at, why } of await sequences.restores.all())
      if (at.getTime() > since) await tell('sequence_restored', `the restore ${id}:`, why);
    await settleNumbers({ database });
  };

  return {
    appendChanges: () =>
      watched(async () => {
        await segments.takeAll();
        const appended = await appendSome();
        await tellOfEnds();
        await settle();
        return appended + (await appendVoids());
      }),
    audit: (until) => watched(async () => log.audit(await known(), until)),
    publish: (last) =>
      watched(async () => {
        await segments.takeAll();
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
