import { setTimeout as wait } from 'node:timers/promises';
import { leafHash } from '../../../../packages/tlog/src/index.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { canonicalJson, changeRecord } from '../../../domain/records/record.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { TIMINGS, type Timings } from '../../../domain/timings.js';
import type { LoggableChange } from '../../../models/change/change-seal.js';
import type { Database } from '../../../models/database.js';
import { createTeller, type LogWatch } from './log-watch.js';
import type { SegmentAppender } from './segment-appender.js';

/** The first pass of a process looks back so far at changes that say that the log has them, milliseconds. */
const LOOK_BACK_MS = UNITS.h;
/** Later ones look back to the last pass, and this, milliseconds: changes have the time at which they were begun. */
const OVERLAP_MS = 5 * UNITS.m;

/**
 * Appends changes to the log: those that are as they were written, by their tags, as soon as it is known how they
 * ended. The fields of a change about the log are not believed. People are told of each that is not what it should be.
 *
 * @returns appends some, and says how many; 0: that was all
 */
export function createChangeAppender(
  { changes, log }: Pick<Database, 'changes' | 'log'>,
  segments: Pick<SegmentAppender, 'append'>,
  watch: Pick<LogWatch, 'refused'>,
  { log_looks_again_ms }: Timings = TIMINGS,
): () => Promise<number> {
  const tellOnce = createTeller(watch);
  let lookedUpTo: number | undefined;

  const tell = (id: string, how: string) => tellOnce('change_altered', `the change ${id}`, how);

  /** A change that was removed before the log had it leaves a gap in the versions of its resource. */
  const lookBefore = async ({
    accountId,
    change: { id, resource },
    follows,
  }: LoggableChange): Promise<void> => {
    if (!follows || (await changes.audit.hasStep({ accountId, resource, at: follows }))) return;
    await tell(id, `follows a version of ${resource} of which there is no change`);
  };

  const append = async (some: readonly LoggableChange[]): Promise<number> => {
    for (const { change, wrong } of some) if (wrong !== undefined) await tell(change.id, wrong);
    const right = some.filter(({ wrong, isPending }) => wrong === undefined && !isPending);
    const numbers = await segments.append(
      right.map(({ accountId, ...salted }) => ({
        name: salted.change.id,
        record: recordOf(accountId, salted),
      })),
    );
    await changes.logged(numbers);
    for (const one of right) await lookBefore(one);
    return right.length;
  };

  const withoutLeaf = async (some: readonly LoggableChange[]): Promise<LoggableChange[]> => {
    const leaves = await log.leavesAt(some.flatMap(({ leafIndex }) => leafIndex ?? []));
    return some.filter(({ leafIndex, accountId, ...salted }) => {
      const leaf = leafIndex === undefined ? undefined : leaves.get(leafIndex);
      return !leaf?.equals(leafHash(recordOf(accountId, salted)));
    });
  };

  /** Those that say that the log has them, since the last pass: somebody can hide one by writing that. */
  const lookAtLogged = async (): Promise<number> => {
    const now = sharedNow();
    const since = lookedUpTo ?? now - LOOK_BACK_MS;
    let appended = 0;
    for await (const some of changes.audit.loggedSince(new Date(since - OVERLAP_MS))) {
      let missing = await withoutLeaf(some);
      if (missing.length > 0) {
        // For a moment after a failover, leaves can be read later than the changes that say they are there.
        await wait(log_looks_again_ms);
        missing = await withoutLeaf(missing);
      }
      for (const { change, wrong = 'says that the log has it, which has not' } of missing)
        await tell(change.id, wrong);
      appended += await append(missing);
    }
    lookedUpTo = now;
    return appended;
  };

  return async () => {
    await changes.outcomes.settleAll();
    for await (const some of changes.audit.unlogged()) {
      const appended = await append(some);
      if (appended > 0) return appended;
    }
    return lookAtLogged();
  };
}

const recordOf = (...change: Parameters<typeof changeRecord>) => canonicalJson(changeRecord(...change));
