import type { Logger } from 'pino';
import { UNITS } from '../../../domain/basics/duration.js';
import { type NumberRange, rangeText, toRanges, twiceIn } from '../../../domain/sequence/ranges.js';
import type { Database } from '../../../models/database.js';
import { repeat, warnUnlessOutage } from '../../process/repeat.js';
import { createTeller, type LogWatch, type Teller } from '../log/log-watch.js';
import type { Servers } from '../servers.js';

/** Events that are looked at of one range of lost numbers. */
const MAX_EVENTS = 100_000;
/** Ranges of one account that are told at once. */
const MAX_TOLD = 10;
/** How often all numbers are looked at, milliseconds; and once when a process starts. */
const AUDIT_EVERY_MS = UNITS.d;

/** {@link auditNumbers}, now and each day. @returns stops it */
export function keepNumbersAudited(
  { database }: Pick<Servers, 'database'>,
  watch: LogWatch,
  logger: Logger,
): () => Promise<void> {
  const tell = createTeller(watch);
  const warn = warnUnlessOutage(
    logger,
    'Numbers of events could not all be looked at. This is tried again in a day.',
  );
  return repeat(AUDIT_EVERY_MS, (stopping) => auditNumbers(database, tell, stopping).catch(warn), {
    now: true,
  });
}

/**
 * Looks at all sequences, and tells of each that is not as it was written; and at the events that have lost numbers,
 * and tells of numbers that two of them have: those that are lost alone may have been given twice.
 *
 * @param stopping ends it between two accounts
 */
export async function auditNumbers(
  { sequences }: Pick<Database, 'sequences'>,
  tell: Teller,
  stopping?: AbortSignal,
): Promise<void> {
  for await (const { id, wrong } of sequences.altered()) await tell('sequence_altered', id, wrong);
  for await (const { accountId, lost } of sequences.all())
    for (const range of lost) {
      if (stopping?.aborted) return;
      const found = await sequences.events.find(accountId, range, MAX_EVENTS);
      const believed = found.filter(({ wrong }) => wrong === undefined);
      await tellOfTwice(accountId, toRanges(twiceIn(believed.map(({ sequence }) => sequence))), tell);
    }
}

/** Tells of numbers that two events of an account have. */
export async function tellOfTwice(
  accountId: string,
  twice: readonly NumberRange[],
  tell: Teller,
): Promise<void> {
  for (const range of twice.slice(0, MAX_TOLD))
    await tell(
      'number_twice',
      `${rangeText(range)} in the sequence of ${accountId}`,
      'is what two events have',
    );
}
