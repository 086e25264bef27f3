/** Exports of this package: it starts servers, finds programs, and runs them. */
export { downloadWay } from './binaries/download.js';
export { type Found, findBinary, isExecutable, onPath, pathWay, type Way } from './binaries/find-binary.js';
export { type GoProgram, goBuildWay } from './binaries/go-build.js';
export { waysToMongo } from './binaries/mongo-binary.js';
export { CLI_VERSION, findTemporalCli, temporalWheel, waysToTemporal } from './binaries/temporal-binary.js';
export { type WheelProgram, wheelWay } from './binaries/wheel.js';
export { userCacheDir } from './cache-dir.js';
export { childEnvironment } from './child-environment.js';
export { EmbeddedStartError, EmbeddedUnavailableError, oneLine, PortTakenError } from './errors.js';
export { type GuardedOptions, type GuardedProcess, startGuarded } from './servers/guarded-process.js';
export { type EmbeddedMongo, startMongo } from './servers/mongo.js';
export { freePort, LOOPBACK } from './servers/ports.js';
export { openPrivateFile } from './servers/private-folder.js';
export { type Server, type ServerCommand, startServer } from './servers/server-process.js';
export {
  type EmbeddedTemporal,
  type NamespaceLimits,
  startTemporal,
  type TemporalOptions,
} from './servers/temporal.js';
export type { EmbeddedOptions, EmbeddedServer, How, Report } from './types.js';
