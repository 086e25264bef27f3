import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { loadSettings } from '../../src/config/load.js';
import { recordScheduleId } from '../../src/domain/ledger/workflow-ids.js';
import { connectDatabase } from '../../src/models/database.js';
import type { TemporalConnection } from '../../src/temporal/server/connection.js';
import { saturate, sendSteadily, warmUp } from '../support/load.js';
import { startReceiver } from '../support/receiver.js';
import { median } from '../support/statistics.js';
import { type BenchAccount, createAccount } from '../support/system.js';
import { until } from '../support/until.js';
import { type Nodes, startNodes } from './nodes.js';
import { type Reading, read, spentBetween } from './readings.js';
import type { ClusterServers } from './servers.js';
import { forEach, type Observation, type Spent } from './sizing.js';

/** A time limit for deliveries to arrive and to be recorded. Milliseconds. */
const LIMIT_MS = 300_000;
const ASK_EVERY_MS = 100;
/** PostgreSQL's processes tell their counts once a second. Milliseconds. */
const COUNTED_MS = 1_200;

/** Setup of a measurement. */
export interface Setup {
  nodes: number;
  isGrouped: boolean;
  /**
   * As fast as it is answered, with so many requests under way at each node; or at a rate, events a second at all of
   * them.
   */
  load: { inFlight: number; events: number } | { perSecond: number; seconds: number };
}

/** A setup with what was measured of it. */
export interface Measured {
  setup: Setup;
  outcome: Outcome;
}

/** Result of a measurement. */
export interface Outcome extends Observation {
  /** From the first request to the last arrival. */
  perSecond: number;
  /** Use of resources by keeping records, for each delivery. */
  records: Spent;
  /** Cores of the machine that were busy, other people's work included. */
  busyCores: number;
  /**
   * The part of the time for which the busiest node's main thread was busy, and the program that sends and receives.
   */
  mainThread: number;
  program: number;
  /** Average load of the machine over the minute before. */
  loadBefore: number;
}

/** Measures one setup on nodes of its own, which share the servers with those before. */
export async function measure(
  servers: ClusterServers,
  temporal: TemporalConnection,
  { nodes: count, isGrouped, load }: Setup,
): Promise<Outcome> {
  const [loadBefore = 0] = loadavg();
  const receiver = await startReceiver(servers.authority);
  const system = await startNodes(servers, count, {
    HOOKLINE_GROUP_COMMIT: isGrouped ? 'on' : 'off',
    // It is run by hand, once everything has been delivered.
    HOOKLINE_LOG_INTERVAL: '24h',
  });
  try {
    const account = await createAccount(system.environment, system.nodes[0]?.url ?? '');
    await account.register(`${receiver.url}/`);
    const accounts = system.nodes.map(({ url }) => ({ ...account, url }));
    const ledger = ledgerOf(temporal, system);
    const warm = await Promise.all(accounts.map((each) => warmUp(each, 16)));
    await until(() => receiver.arrivals.size >= sum(warm), LIMIT_MS);
    await ledger.rest();
    receiver.arrivals.clear();

    const executions = await ledger.executions();
    const before = await read(servers, system);
    const events = await send(accounts, load);
    await until(() => receiver.arrivals.size >= events, LIMIT_MS);
    const loaded = await read(servers, system);
    const last = Math.max(...receiver.arrivals.values());
    await ledger.rest();
    const after = await read(servers, system);
    const seconds = (last - before.atMs) / 1_000;
    const groupSize = events / ((await ledger.executions()) - executions);
    await logAll(temporal, system);
    await delay(COUNTED_MS);
    const recorded = await read(servers, system);
    return {
      perSecond: events / seconds,
      groupSize,
      each: spentBetween(before, after, events),
      records: spentBetween(after, recorded, events),
      ...sharesOf(before, loaded),
      loadBefore,
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** The value in the middle of each figure. */
export function medianOf(outcomes: readonly Outcome[]): Outcome {
  const of = (value: (outcome: Outcome) => number) => median(outcomes.map(value));
  return {
    perSecond: of(({ perSecond }) => perSecond),
    groupSize: of(({ groupSize }) => groupSize),
    each: forEach((name) => of(({ each }) => each[name])),
    records: forEach((name) => of(({ records }) => records[name])),
    busyCores: of(({ busyCores }) => busyCores),
    mainThread: of(({ mainThread }) => mainThread),
    program: of(({ program }) => program),
    loadBefore: of(({ loadBefore }) => loadBefore),
  };
}

/** @returns how many events were sent */
async function send(accounts: readonly BenchAccount[], load: Setup['load']): Promise<number> {
  const each = accounts.length;
  const sent = await Promise.all(
    accounts.map((account) =>
      'events' in load
        ? saturate(account, Math.round(load.events / each), load.inFlight)
        : sendSteadily(account, load.perSecond / each, load.seconds),
    ),
  );
  return sum(sent.map(({ length }) => length));
}

function sharesOf(before: Reading, after: Reading): Pick<Outcome, 'busyCores' | 'mainThread' | 'program'> {
  const elapsedMs = after.atMs - before.atMs;
  const threads = after.nodes.map(
    ({ mainThreadMs }, number) => mainThreadMs - (before.nodes[number]?.mainThreadMs ?? 0),
  );
  return {
    busyCores: (after.machineMs - before.machineMs) / elapsedMs,
    mainThread: Math.max(...threads) / elapsedMs,
    program: (after.total.programMs - before.total.programMs) / elapsedMs,
  };
}

/** The executions of some nodes in Temporal. */
function ledgerOf({ client }: TemporalConnection, { environment }: Nodes) {
  const all = `TaskQueue = '${environment['HOOKLINE_TASK_QUEUE']}' AND HooklineStatus IS NOT NULL`;
  const count = async (query: string) => (await client.workflow.count(query)).count;
  return {
    executions: () => count(all),
    /** Waits until none is open and all that was done is counted. */
    async rest(): Promise<void> {
      await delay(COUNTED_MS);
      const open = `${all} AND ExecutionStatus = 'Running'`;
      await until(async () => (await count(open)) === 0, LIMIT_MS, ASK_EVERY_MS);
    },
  };
}

/** Has the log take everything that has closed. */
async function logAll({ client }: TemporalConnection, { environment }: Nodes): Promise<void> {
  const schedule = client.schedule.getHandle(recordScheduleId(environment['HOOKLINE_TASK_QUEUE'] ?? ''));
  const { segments, close } = await connectDatabase(loadSettings(environment).MONGODB_URI ?? '');
  try {
    const deadline = performance.now() + LIMIT_MS;
    while ((await segments.waiting()) > 0) {
      if (performance.now() > deadline) throw new Error('the log is behind');
      // By itself it would begin another run beside one that is under way.
      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
      await delay(1_000);
    }
  } finally {
    await close();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
