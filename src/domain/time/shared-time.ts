import { ServerClock } from './server-clock.js';

/** MongoDB's clock: the one that all processes of an installation share. */
export const mongodbClock = new ServerClock();

/** Temporal's clock: the time of workflows. */
export const temporalClock = new ServerClock();

/**
 * The time that all processes of an installation share, milliseconds since the epoch: MongoDB's. Whatever one process
 * stores and another one compares, such as leases, tokens and the ages of things, is by this time; a machine's own
 * clock may be wrong by hours, and may be set at any moment. Where no MongoDB is used, it is this machine's.
 */
export function sharedNow(): number {
  return mongodbClock.now();
}

/** {@link sharedNow} as a date. */
export function sharedDate(): Date {
  return new Date(sharedNow());
}
