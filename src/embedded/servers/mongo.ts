import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findBinary } from '../binaries/find-binary.js';
import { waysToMongo } from '../binaries/mongo-binary.js';
import { requireUnix } from '../binaries/platform.js';
import { userCacheDir } from '../cache-dir.js';
import type { How, Report } from '../types.js';
import { claimPort, LOOPBACK } from './ports.js';
import { makePrivateFolder } from './private-folder.js';
import { startServer, THROW_AWAY_SERVER } from './server-process.js';

const SERVICE = 'MongoDB';

/** What {@link startMongo} needs to know. */
export interface EmbeddedMongoOptions {
  /** Folder of the project's data; `mongodb/` or `ferretdb/`, and `logs/`, are made in it. */
  dataDir: string;
  /** The server to use instead of starting one. */
  uri?: string;
  /** Port to listen on; 0 chooses a free one. */
  port: number;
  /** false for data that need not outlive the machine, for tests. Default: true. */
  persistent?: boolean;
  /** Receives one line for each thing that is done, and progress where it takes long. */
  report: Report;
  /** Folder of downloads and builds. Default: `hookline` in the user's cache folder. */
  cacheDir?: string;
  /** true to start a server that ends by itself again, once, with its data. Default: false. */
  restart?: boolean;
  /** Ends the start, and whatever is being downloaded or built for it. */
  signal?: AbortSignal;
}

/** A MongoDB server to work with, or one that speaks its protocol. */
export interface EmbeddedMongo {
  /** Connection string, with the database `hookline` where we started the server. */
  uri: string;
  how: How;
  /** Rejects when what was started here has ended by itself, and is not started again or did not start again. */
  failed: Promise<never>;
  /** Stops what was started here, and waits for it; may be called again. Does nothing for a configured server. */
  stop(): Promise<void>;
}

/**
 * Uses the configured MongoDB server, or starts one that ends with this process, and waits until it answers.
 *
 * @throws EmbeddedUnavailableError when there is no way to get a server
 * @throws PortTakenError when the port is in use
 * @throws EmbeddedStartError when the server ends or stays silent
 */
export async function startMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const { uri: configured, report, persistent = true } = options;
  if (configured !== undefined) {
    report(`${SERVICE}: using the server of MONGODB_URI.`); // not the string itself: it may hold a password
    return { uri: configured, how: 'configured', failed: new Promise(() => {}), stop: async () => {} };
  }
  requireUnix(SERVICE, 'MONGODB_URI');

  const port = await claimPort(options.port, 'HOOKLINE_MONGODB_PORT', 'MongoDB');
  const ways = waysToMongo(options.cacheDir ?? userCacheDir(), report);
  const { how, binary } = await findBinary(SERVICE, 'MONGODB_URI is not set', ways, report, options.signal);

  // The two keep different files, so each has a folder: neither can read, or harm, the other's.
  const [kind, other] =
    how === 'built' ? (['ferretdb', 'mongodb'] as const) : (['mongodb', 'ferretdb'] as const);
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, kind);
  if (existsSync(join(dataDir, other)) && !existsSync(folder)) {
    report(
      `${SERVICE}: starting with an empty database; the one in ${join(dataDir, other)} needs another program.`,
    );
  }
  makePrivateFolder(folder);
  const server = await startServer({
    service: SERVICE,
    binary,
    args: kind === 'ferretdb' ? ferretArguments(port, folder, persistent) : mongodArguments(port, folder),
    logFile: join(dataDir, 'logs', 'mongodb.log'),
    probe: () => accepts(port),
    report,
    restart: options.restart ?? false,
    signal: options.signal,
    ...(!persistent && { env: THROW_AWAY_SERVER }),
  });

  report(`${SERVICE}: ready at ${LOOPBACK}:${port}, data in ${folder}.`);
  return {
    uri: `mongodb://${LOOPBACK}:${port}/hookline`,
    how,
    failed: server.failed,
    stop: () => server.stop(),
  };
}

function mongodArguments(port: number, folder: string): string[] {
  // Without a file in /tmp for local connections: its name is the port's, and it would outlive a kill.
  return ['--bind_ip', LOOPBACK, '--port', String(port), '--dbpath', folder, '--nounixsocket', '--quiet'];
}

/** The arguments of FerretDB. @param persistent what it has acknowledged outlives a power cut */
export function ferretArguments(port: number, folder: string, persistent: boolean): string[] {
  const synchronous = persistent ? 'full' : 'off';
  return ['-listen', `${LOOPBACK}:${port}`, '-data', folder, '-synchronous', synchronous];
}

/** Both servers begin to listen when they can serve. */
function accepts(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect({ port, host: LOOPBACK, timeout: 1_000 });
    socket.once('connect', () => {
      socket.destroy();
      done();
    });
    socket.once('error', fail);
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
  });
}
