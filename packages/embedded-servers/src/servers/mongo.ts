import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findBinary } from '../binaries/find-binary.js';
import { waysToMongo } from '../binaries/mongo-binary.js';
import { requireUnix } from '../binaries/platform.js';
import { userCacheDir } from '../cache-dir.js';
import { CONFIGURED, type EmbeddedOptions, type EmbeddedServer } from '../types.js';
import { claimPort, LOOPBACK } from './ports.js';
import { makePrivateFolder } from './private-folder.js';
import { startServer, THROW_AWAY_SERVER } from './server-process.js';

const SERVICE = 'MongoDB';

/** A MongoDB server to work with, or one that speaks its protocol. */
export interface EmbeddedMongo extends EmbeddedServer {
  /** Connection string, with the database `hookline` where we started the server. */
  uri: string;
}

/**
 * Uses the configured MongoDB server, that of `uri`, or starts one that ends with this process, and waits until it
 * answers.
 *
 * @throws EmbeddedUnavailableError when there is no way to get a server
 * @throws PortTakenError when the port is in use
 * @throws EmbeddedStartError when the server ends or stays silent
 */
export async function startMongo(options: EmbeddedOptions & { uri?: string }): Promise<EmbeddedMongo> {
  const { uri: configured, report, persistent = true } = options;
  if (configured !== undefined) {
    report(`${SERVICE}: using the server of MONGODB_URI.`); // not the string itself: it may hold a password
    return { ...CONFIGURED, uri: configured };
  }
  requireUnix(SERVICE, 'MONGODB_URI');

  const port = await claimPort(options.port, 'HOOKLINE_MONGODB_PORT', 'MongoDB');
  const ways = waysToMongo(userCacheDir());
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
  return { ...server, uri: `mongodb://${LOOPBACK}:${port}/hookline` };
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
