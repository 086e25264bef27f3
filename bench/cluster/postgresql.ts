import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, LOOPBACK, startServer } from '../../packages/embedded-servers/src/index.js';
import { findProcess } from '../support/usage.js';
import { postgresqlFolder } from './programs.js';

const run = promisify(execFile);
/** The user of the database; nobody but this machine reaches it, for as long as it runs. */
export const DATABASE_USER = 'temporal';
export const DATABASE_PASSWORD = 'temporal';
/**
 * The user of the operating system that PostgreSQL runs as where we are root, which it refuses to be: the package makes
 * it.
 */
const SYSTEM_USER = 'postgres';

/** A PostgreSQL server of our own, empty at first. */
export interface Postgresql {
  port: number;
  /** For `psql`, with the password. */
  url: string;
  /** Its first process; the others are its children. */
  pid(): Promise<number | undefined>;
  /** Answers a query with the values of its one row. */
  row(query: string): Promise<string[]>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Starts PostgreSQL with its defaults: what it has committed is on the disk. */
export async function startPostgresql(report: (line: string) => void): Promise<Postgresql> {
  const programs = await postgresqlFolder();
  const [folder, logs] = await Promise.all([
    temporaryFolder('postgresql'),
    temporaryFolder('postgresql-log'),
  ]);
  const remove = () => Promise.all([folder, logs].map((path) => rm(path, { recursive: true, force: true })));
  const passwordFile = join(folder, 'password');
  const data = join(folder, 'data');
  const port = await freePort();
  const url = `postgresql://${DATABASE_USER}:${DATABASE_PASSWORD}@${LOOPBACK}:${port}/postgres`;
  const row = async (query: string) => {
    const { stdout } = await run(join(programs, 'psql'), [url, '--no-align', '--tuples-only', '-c', query]);
    return stdout.trim().split('|');
  };
  try {
    await writeFile(passwordFile, DATABASE_PASSWORD);
    if (isRoot()) await giveTo(folder, passwordFile);
    const initdb = ['-D', data, '-U', DATABASE_USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    const [command, args] = asPlainUser(join(programs, 'initdb'), initdb);
    await run(command, args, { cwd: folder });
    const [binary, serverArgs] = asPlainUser(join(programs, 'postgres'), [
      ...['-D', data, '-p', String(port)],
      ...['-c', `listen_addresses=${LOOPBACK}`, '-c', 'unix_socket_directories='],
    ]);
    const server = await startServer({
      service: 'PostgreSQL',
      binary,
      args: serverArgs,
      logFile: join(logs, 'postgresql.log'),
      probe: async () => void (await row('SELECT 1')),
      report,
      restart: false,
    });
    report(`PostgreSQL: ready at ${LOOPBACK}:${port}, data in ${folder}.`);
    return {
      port,
      url,
      pid: () => findProcess(data, String(port)),
      row,
      async stop() {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

const temporaryFolder = (name: string) => mkdtemp(join(tmpdir(), `hookline-${name}-`));
const isRoot = () => process.getuid?.() === 0;

async function giveTo(...paths: string[]): Promise<void> {
  const { stdout } = await run('id', ['-u', SYSTEM_USER]);
  for (const path of paths) await chown(path, Number(stdout), -1);
}

/** A command, as a user that PostgreSQL takes. `setpriv` becomes the program, so that signals reach it. */
function asPlainUser(program: string, args: string[]): [string, string[]] {
  if (!isRoot()) return [program, args];
  return [
    'setpriv',
    [`--reuid=${SYSTEM_USER}`, `--regid=${SYSTEM_USER}`, '--clear-groups', program, ...args],
  ];
}
