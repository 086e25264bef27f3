import type { Logger } from 'pino';
import { UNITS } from '../../../domain/basics/duration.js';
import type { UsageRepository } from '../../../models/stats/usage.js';
import { repeat, warnUnlessOutage } from '../../process/repeat.js';

/** How often it is looked whether an hour is to be counted, milliseconds. */
const LOOK_MS = 10 * UNITS.m;

/** Counts the use of the service by account, hour by hour. @returns stops it */
export function keepUsage(usage: UsageRepository, logger: Logger): () => Promise<void> {
  const warn = warnUnlessOutage(logger, 'Usage could not be counted. This is tried again in ten minutes.');
  return repeat(LOOK_MS, (stopping) => usage.count(stopping).catch(warn), { now: true });
}
