import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findBinary } from '../binaries/find-binary.js';
import { requireUnix } from '../binaries/platform.js';
import { waysToTemporal } from '../binaries/temporal-binary.js';
import { userCacheDir } from '../cache-dir.js';
import { CONFIGURED, type EmbeddedOptions, type EmbeddedServer } from '../types.js';
import { claimPort, freePort, hiddenAddress, LOOPBACK } from './ports.js';
import { makePrivateFolder } from './private-folder.js';
import { startServer, THROW_AWAY_SERVER } from './server-process.js';
import { startUiProxy } from './ui-proxy.js';
import { DROP_INDEXES } from './visibility-indexes.js';

const SERVICE = 'Temporal';

/** Further options of {@link startTemporal}. */
export interface TemporalOptions {
  /** The server to use instead of starting one: `host:port`. */
  address?: string;
  /** Created if it does not exist. */
  namespace: string;
  /** Port of Temporal UI, for its own pages alone; 0 chooses a free one, undefined starts without it. */
  uiPort: number | undefined;
  /**
   * The length of a history, in events, from which Temporal suggests to continue in a new run. Default: its own, 4,096.
   */
  suggestContinueAsNewAfter?: number | undefined;
  /** Limits of a namespace. Default: {@link WIDE_LIMITS}. */
  limits?: NamespaceLimits | undefined;
}

/** Limits of a namespace that differ between installations of Temporal. */
export interface NamespaceLimits {
  /** Lists, counts and scans in a second. */
  visibilityPerSecond: number;
  /** The value of a search attribute, as JSON. */
  searchAttributeBytes: number;
}

/**
 * As many lists as come: by default they are ten a second, which protects a shared cluster. A group of one event's
 * deliveries names up to 120 endpoints: by default it is 2 KiB, about 60 of them.
 */
const WIDE_LIMITS: NamespaceLimits = { visibilityPerSecond: 100_000, searchAttributeBytes: 4_096 };

/** A Temporal server to work with. */
export interface EmbeddedTemporal extends EmbeddedServer {
  /** `host:port` of the gRPC frontend. */
  address: string;
  /** Address of Temporal UI, where we started one. */
  uiUrl: string | undefined;
}

/**
 * Uses the configured Temporal server, or starts a dev server that ends with this process, and waits until it answers.
 *
 * @throws EmbeddedUnavailableError when there is no way to get a server
 * @throws PortTakenError when a port is in use
 * @throws EmbeddedStartError when the server ends or stays silent
 */
export async function startTemporal(options: EmbeddedOptions & TemporalOptions): Promise<EmbeddedTemporal> {
  const { address: configured, namespace, report, persistent = true } = options;
  if (configured !== undefined) {
    report(`${SERVICE}: using the server at ${configured}, from TEMPORAL_ADDRESS.`);
    return { ...CONFIGURED, address: configured, uiUrl: undefined };
  }
  requireUnix(SERVICE, 'TEMPORAL_ADDRESS');

  const port = await claimPort(options.port, 'HOOKLINE_TEMPORAL_PORT', 'Temporal');
  const uiPort =
    options.uiPort === undefined
      ? undefined
      : await claimPort(options.uiPort, 'HOOKLINE_TEMPORAL_UI_PORT', 'Temporal UI');
  const ui = uiPort === undefined ? undefined : { host: await hiddenAddress(), port: await freePort() };
  const ways = waysToTemporal(userCacheDir());
  const { binary } = await findBinary(SERVICE, 'TEMPORAL_ADDRESS is not set', ways, report, options.signal);

  const dataDir = resolve(options.dataDir);
  const database = await openDatabase(dataDir, persistent);
  const address = `${LOOPBACK}:${port}`;
  const start = (more: { restart?: boolean; graceMs?: number } = {}) =>
    startServer({
      service: SERVICE,
      binary,
      args: serverArguments({ ...options, persistent, port, ui, databaseFile: database.file }),
      logFile: join(dataDir, 'logs', 'temporal.log'),
      probe: () => describeNamespace(address, namespace),
      report,
      restart: false,
      signal: options.signal,
      ...(!persistent && { env: THROW_AWAY_SERVER }),
      ...more,
    }).catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
  // The first start makes the tables, the second drops the indexes that nothing needs (serverArguments). It is killed
  // at once: 0.2 s of processor.
  if (!persistent) await (await start({ graceMs: 0 })).stop();
  const server = await start({ restart: options.restart ?? false });
  const proxy = uiPort !== undefined && ui && (await startUiProxy(uiPort, ui));

  const uiUrl = uiPort === undefined ? undefined : `http://${LOOPBACK}:${uiPort}`;
  const where = persistent ? `data in ${database.file}` : 'data kept until it stops';
  report(`${SERVICE}: ready at ${address}, ${uiUrl === undefined ? '' : `UI at ${uiUrl}, `}${where}.`);
  return {
    address,
    uiUrl,
    failed: server.failed,
    async stop() {
      if (proxy) proxy.close();
      await server.stop();
      await database.close();
    },
  };
}

/** The arguments of Temporal's CLI. */
export function serverArguments(
  server: Omit<TemporalOptions, 'address' | 'uiPort'> & {
    port: number;
    ui: { host: string; port: number } | undefined;
    databaseFile: string;
    persistent: boolean;
  },
): string[] {
  // The metrics, HTTP and internal ports are left alone: the dev server chooses free ones for each of them.
  const args = ['server', 'start-dev', '--ip', LOOPBACK, '--port', String(server.port)];
  const { ui } = server;
  args.push(...(ui ? ['--ui-ip', ui.host, '--ui-port', String(ui.port)] : ['--headless']));
  // Its HTTP API would let every page act that finds the port: it checks nothing else than the host by which it is
  // asked. This one is nobody's: names in `.invalid` lead nowhere (RFC 6761, section 6.4), and no page knows this one.
  args.push('--dynamic-config-value', `frontend.httpAllowedHosts=["${randomUUID()}.invalid"]`);
  args.push('--db-filename', server.databaseFile, '--namespace', server.namespace);
  args.push('--log-level', 'error', '--color', 'never'); // each stop logs a page of warnings
  // Three to four times the throughput.
  args.push('--sqlite-pragma', 'journal_mode=WAL');
  // Acknowledged writes survive a power cut: with NORMAL, the last commits of a write-ahead log can be lost
  // (https://www.sqlite.org/pragma.html#pragma_synchronous). Temporary data need not survive a crash of the machine:
  // all calls would wait for a busy disk.
  args.push(
    '--sqlite-pragma',
    `synchronous=${server.persistent ? 'FULL' : ['OFF', ...DROP_INDEXES].join('; ')}`,
  );
  // Timers exact to milliseconds; by default they may fire up to a second late.
  args.push('--dynamic-config-value', 'history.timerProcessorMaxTimeShift="1ms"');
  // Manual deletions take effect at once, instead of after a minute or two.
  args.push('--dynamic-config-value', 'history.transferProcessorEnsureCloseBeforeDelete=false');
  const { visibilityPerSecond, searchAttributeBytes } = server.limits ?? WIDE_LIMITS;
  args.push('--dynamic-config-value', `frontend.searchAttributesSizeOfValueLimit=${searchAttributeBytes}`);
  args.push('--dynamic-config-value', `frontend.namespaceRPS.visibility=${visibilityPerSecond}`);
  // Attempts in the isolated lane are shared out between endpoints where there is a backlog, and go by priority.
  args.push('--dynamic-config-value', 'matching.useNewMatcher=true');
  args.push('--dynamic-config-value', 'matching.enableFairness=true');
  // One partition of a task queue is enough for one machine, and fairness and priority hold across it, not across
  // several.
  args.push('--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1');
  args.push('--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1');
  const events = server.suggestContinueAsNewAfter;
  if (events !== undefined)
    args.push('--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${events}`);
  return args;
}

/**
 * The database file, in a folder that exists. Even a throw-away one is a file: in memory there is no write-ahead log.
 */
async function openDatabase(dataDir: string, persistent: boolean) {
  if (persistent) {
    const folder = join(dataDir, 'temporal');
    makePrivateFolder(folder);
    return { file: join(folder, 'temporal.db'), close: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), 'hookline-temporal-'));
  return { file: join(folder, 'temporal.db'), close: () => rm(folder, { recursive: true, force: true }) };
}

async function describeNamespace(address: string, namespace: string): Promise<void> {
  // Loaded only here: of those who import this package, most start no server.
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
    // Node.js 20 would go on handing the context of its calls to every promise of the process.
    connection.callContextStorage.disable();
  }
}
