import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import { migrate } from '../../../src/bin/migrate.js';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { loadSettings } from '../../../src/config/load.js';
import type { Settings } from '../../../src/config/schema.js';
import { ACCOUNT_SCOPES, OPERATOR_SCOPES, type Scope } from '../../../src/domain/access/api-key.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { parseRetrySchedule } from '../../../src/domain/endpoint/retry-schedule.js';
import type { OrderRule } from '../../../src/domain/event/ordering.js';
import { connectDatabase } from '../../../src/models/database.js';
import { type ShiftedClock, shiftedClock } from '../../../test/support/programs/shifted-clock.js';
import { type BenchServers, startServers } from '../../support/system.js';
import type { EndpointFacts } from '../check/collected.js';
import { ask } from './client.js';
import { type Link, startLink } from './link.js';
import { type ChaosNode, chaosNode } from './node.js';
import { type Receivers, startReceivers } from './receivers.js';

/** An account, its producer's key, and its part of all events. */
export interface ChaosAccount {
  name: string;
  id: string;
  key: string;
  share: number;
  endpointIds: string[];
  /** Its events are sent without `Idempotency-Key` now and then. */
  isCareless: boolean;
  /** Its endpoints are in order: its events have order keys. */
  isOrdered: boolean;
}

/** Everything that runs: servers, Hookline processes, receivers, and the networks between them. */
export interface World {
  servers: BenchServers;
  nodes: ChaosNode[];
  /** A clock for each process that a fault can start it with. */
  clocks: ShiftedClock[];
  /** From each process to Temporal and to MongoDB, and from producers to it; in the order of the processes. */
  links: { temporal: Link[]; mongodb: Link[]; api: Link[] };
  /** From Hookline to each receiver, by its path. */
  toReceivers: Map<string, Link>;
  receivers: Receivers;
  accounts: ChaosAccount[];
  endpoints: EndpointFacts[];
  /** Secrets that each receiver has had, by its path. */
  secrets: Map<string, string[]>;
  /** Acts for every account. */
  operatorKey: string;
  /** Environment of a process that reaches the servers directly. */
  environment: Record<string, string>;
  settings: Settings;
  /** Where what the processes write stands. */
  logFolder: string;
  stop(): Promise<void>;
}

/** Waits between attempts: more of them than a run can use up. */
const SCHEDULE = ['500ms,1s,1s,2s,2s,3s', ...Array.from({ length: 40 }, () => '4s')].join();
/** Schedule of an endpoint whose deliveries are given up soon. */
const SHORT_SCHEDULE = '500ms,1s';

/** How an endpoint is registered. */
interface EndpointSetup {
  /** Absent: {@link SCHEDULE}. */
  schedule?: string;
  order?: OrderRule;
}

const ACCOUNTS: { name: string; share: number; endpoints: EndpointSetup[]; isCareless?: true }[] = [
  { name: 'shop', share: 0.35, endpoints: [{}, {}, { schedule: SHORT_SCHEDULE }] },
  { name: 'market', share: 0.33, endpoints: [{}, {}], isCareless: true },
  {
    name: 'ledger',
    share: 0.1,
    endpoints: [
      { order: { ordering: 'key' } },
      { order: { ordering: 'endpoint' } },
      { order: { ordering: 'key', order_skip: 'exhausted' }, schedule: SHORT_SCHEDULE },
      { order: { ordering: 'endpoint', order_skip_after: '4s' } },
    ],
  },
  // More than an answer lists, and than go into the deliveries of an ordinary group.
  { name: 'wide', share: 0.02, endpoints: Array.from({ length: 12 }, () => ({})) },
  // Is deleted on the way.
  { name: 'leaving', share: 0.2, endpoints: [{}] },
];

/**
 * @param nodeCount Hookline processes, each API and worker
 * @param start starts the servers
 */
export async function startWorld(
  nodeCount: number,
  report: (line: string) => void,
  start = startServers,
): Promise<World> {
  const servers = await start(report);
  const closing: (() => Promise<unknown>)[] = [() => servers.stop()];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    return await fill(servers, nodeCount, closing, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function fill(
  servers: BenchServers,
  nodeCount: number,
  closing: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<World> {
  const environment = servers.environment({
    HOOKLINE_LOG_LEVEL: 'warn',
    HOOKLINE_ALLOW_HTTP: 'false',
    HOOKLINE_LOG_INTERVAL: '10s',
    HOOKLINE_ATTEMPT_TIMEOUT: '2s',
    HOOKLINE_SLOW_RESPONSE: '1s',
    HOOKLINE_PROBE_INTERVAL: '3s',
    HOOKLINE_RETRY_SCHEDULE: SCHEDULE,
    HOOKLINE_RATE_LIMIT_TOKEN: 'off',
    HOOKLINE_RATE_LIMIT_ACCOUNT: 'off',
    HOOKLINE_RATE_LIMIT_ADDRESS: 'off',
    HOOKLINE_TEST_TIME_SCALE: '0.2',
  });
  const settings = loadSettings(environment);
  await migrate(settings, () => {});
  const logFolder = join(servers.folder, 'logs');
  await mkdir(logFolder, { recursive: true });

  const link = async (target: number) => {
    const started = await startLink(target);
    closing.push(() => started.close());
    return started;
  };
  const links: World['links'] = { temporal: [], mongodb: [], api: [] };
  const nodes: ChaosNode[] = [];
  const clocks: ShiftedClock[] = [];
  const mongodb = new URL(environment['MONGODB_URI'] ?? '');
  for (let number = 0; number < nodeCount; number += 1) {
    const clock = await shiftedClock(0);
    closing.push(() => clock.close());
    clocks.push(clock);
    const port = await freePort();
    const toTemporal = await link(Number(servers.temporalAddress.split(':')[1]));
    const toMongodb = await link(Number(mongodb.port));
    const ofNode = new URL(mongodb);
    ofNode.port = String(toMongodb.port);
    const node = chaosNode(
      {
        ...environment,
        TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
        MONGODB_URI: ofNode.href,
      },
      port,
      join(logFolder, `node-${number}.log`),
    );
    closing.push(() => node.stop());
    links.temporal.push(toTemporal);
    links.mongodb.push(toMongodb);
    links.api.push(await link(port));
    nodes.push(node);
    node.start();
  }
  const receivers = await startReceivers(servers.authority);
  closing.push(() => receivers.close());
  await Promise.all(nodes.map((node) => node.ready()));

  const world: World = {
    servers,
    nodes,
    clocks,
    links,
    toReceivers: new Map(),
    receivers,
    accounts: [],
    endpoints: [],
    secrets: new Map(),
    operatorKey: '',
    environment,
    settings,
    logFolder,
    stop,
  };
  const database = await connectDatabase(settings.MONGODB_URI ?? '', requireBoxes(settings));
  const newKey = async (name: string, scopes: readonly Scope[]) => {
    const { id } = await database.accounts.create(name, OPERATOR);
    const { key } = await database.apiKeys.create(id, name, scopes, OPERATOR);
    return { id, key };
  };
  try {
    world.operatorKey = (await newKey('operator', OPERATOR_SCOPES)).key;
    for (const { endpoints, isCareless = false, ...account } of ACCOUNTS) {
      const made = {
        ...account,
        isCareless,
        isOrdered: endpoints.some(({ order }) => order),
        ...(await newKey(account.name, ACCOUNT_SCOPES)),
        endpointIds: [],
      };
      world.accounts.push(made);
      for (const [number, setup] of endpoints.entries())
        await register(world, made, `/${account.name}-${number}`, setup, await link(receivers.port));
    }
  } finally {
    await database.close();
  }
  return world;
}

async function register(
  world: World,
  account: ChaosAccount,
  path: string,
  { schedule, order }: EndpointSetup,
  toReceiver: Link,
): Promise<void> {
  const { status, json, text } = await ask(
    world.nodes[0]?.url ?? '',
    account.key,
    'POST',
    '/v18.0/endpoints',
    {
      body: {
        target_url: `https://localhost:${toReceiver.port}${path}`,
        event_kinds: ['purchase'],
        ...(schedule !== undefined && { retry_schedule: schedule.split(',') }),
        ...order,
      },
    },
  );
  if (status !== 201) throw new Error(`registration answered ${status}: ${text}`);
  account.endpointIds.push(json.id);
  world.toReceivers.set(path, toReceiver);
  world.secrets.set(path, [json.secret]);
  world.endpoints.push({
    id: json.id,
    accountId: account.id,
    path,
    schedule: parseRetrySchedule(schedule ?? SCHEDULE),
    ...(order && { order }),
  });
}
