import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import mongoose, { type mongo } from 'mongoose';
import { isListening } from '../programs/ports.js';
import { until } from '../until.js';

/**
 * SecantusDB (https://pypi.org/project/SecantusDB/): a server of MongoDB's protocol over WiredTiger, MongoDB's storage
 * engine, which says that it is a replica set of one and fails as it is told. It is young, and GPL: a tool of tests,
 * which Hookline neither contains nor ships.
 */
const PACKAGE = 'secantusdb==0.7.0b3';
/** Kept between runs; it has 150 MB. */
const FOLDER = resolve('node_modules/.cache/hookline', PACKAGE.replace('==', '-'));
/** Name that {@link Secantus.uri} gives to its clients: what is to fail, fails for them alone. */
const APP_NAME = 'hookline-under-test';

/** Effect of `failCommand` of MongoDB's servers on commands. */
export interface Failure {
  failCommands: string[];
  errorCode?: number;
  errorLabels?: string[];
  writeConcernError?: { code: number; errmsg: string };
  blockConnection?: boolean;
  blockTimeMS?: number;
  closeConnection?: boolean;
}

export interface Secantus {
  /** Without the name of a database. */
  uri: string;
  /** For what is asked past Hookline, and never fails. */
  admin: mongo.MongoClient;
  /** The URI of a database, for a client that {@link fail} is about. */
  uriOf(database: string): string;
  /** Has commands fail. @param which of them; absent: all until {@link heal} */
  fail(failure: Failure, which?: { times: number; skip?: number }): Promise<void>;
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Installs the package, once, in a virtual environment that is its own.
 *
 * @returns the program, or a sentence that says why there is none
 */
async function install(): Promise<{ python: string } | { missing: string }> {
  const python = join(FOLDER, 'bin', 'python');
  if (existsSync(python)) return { python };
  await mkdir(resolve(FOLDER, '..'), { recursive: true });
  // Other processes of the run may do the same: whoever is first has made it.
  const own = await mkdtemp(`${FOLDER}-`);
  try {
    const run = promisify(execFile);
    await run('python3', ['-m', 'venv', own]);
    await run(join(own, 'bin', 'python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--only-binary=:all:',
      PACKAGE,
    ]);
    await rename(own, FOLDER).catch(() => undefined);
  } catch (error) {
    const [why] = String((error as { stderr?: string }).stderr || error)
      .trim()
      .split('\n');
    return { missing: `SecantusDB, a server for tests, cannot be had with python3 and pip here (${why}).` };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return { python };
}

/**
 * Starts the server, empty.
 *
 * @returns the server, or a sentence that says why there is none: then what needs it is left out
 */
export async function startSecantus(): Promise<Secantus | string> {
  const installed = await install();
  if ('missing' in installed) return installed.missing;
  const port = await freePort();
  const child = spawn(
    installed.python,
    [
      ...['-c', 'import sys; from secantus.cli import main; sys.exit(main())'],
      ...['--port', String(port), '--storage-path', ':memory:', '--cache-size', '256M'],
      ...['--enable-test-commands', '--log-level', 'ERROR'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await until(
    () => isListening(`127.0.0.1:${port}`),
    (listens) => listens || child.exitCode !== null,
  );
  if (child.exitCode !== null) return `SecantusDB, a server for tests, ended with ${child.exitCode}.`;
  const uri = `mongodb://127.0.0.1:${port}`;
  const admin = await new mongoose.mongo.MongoClient(uri).connect();
  const configure = (mode: unknown, data?: object) =>
    admin.db('admin').command({ configureFailPoint: 'failCommand', mode, ...(data && { data }) });
  return {
    uri,
    admin,
    uriOf: (database) => `${uri}/${database}?appName=${APP_NAME}`,
    async fail(failure, which) {
      await configure(which ?? 'alwaysOn', { ...failure, appName: APP_NAME });
    },
    async heal() {
      await configure('off');
    },
    async stop() {
      await admin.close();
      await end(child);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
