import { cpus } from 'node:os';
import mongoose from 'mongoose';
import type { ServerName } from '../support/system.js';
import { type TreeUsage, usageOfTree } from '../support/usage.js';
import type { Nodes } from './nodes.js';
import type { ClusterServers } from './servers.js';
import { forEach, type Spent } from './sizing.js';

/** Use of resources by everything until now. */
export interface Reading {
  /** As by `performance.now()`. */
  atMs: number;
  /** Processor time of the whole machine, other people's included, milliseconds. */
  machineMs: number;
  nodes: TreeUsage[];
  /** Everything since the servers began. */
  total: Spent;
}

const COUNTS = `SELECT sum(xact_commit), sum(tup_inserted + tup_updated + tup_deleted),
  pg_current_wal_lsn() - '0/0', sum(pg_database_size(datname)) FROM pg_stat_database WHERE datname LIKE 'temporal%'`;

export async function read(servers: ClusterServers, { nodes, environment }: Nodes): Promise<Reading> {
  const treeOf = async (pid: number | undefined) => usageOfTree(pid ?? -1);
  const serverMs = async (name: ServerName) => (await treeOf(await servers.pid(name))).cpuMs;
  const usages = await Promise.all(nodes.map(({ guardPid }) => treeOf(guardPid)));
  const sum = (value: (usage: TreeUsage) => number) =>
    usages.reduce((total, usage) => total + value(usage), 0);
  const { user, system } = process.cpuUsage();
  const spent: Partial<Spent> = {
    hooklineMs: sum(({ cpuMs }) => cpuMs),
    mainThreadMs: sum(({ mainThreadMs }) => mainThreadMs),
    temporalMs: await serverMs('Temporal'),
    postgresqlMs: (await treeOf(await servers.postgresql.pid())).cpuMs,
    mongodbMs: await serverMs('MongoDB'),
    programMs: (user + system) / 1_000,
  };
  const times = cpus().map((core) => core.times);
  const [atMs, machineMs] = [
    performance.now(),
    times.reduce((total, { user, nice, sys, irq }) => total + user + nice + sys + irq, 0),
  ];
  const [commits, rows, walBytes, storedBytes] = (await servers.postgresql.row(COUNTS)).map(Number);
  const all = {
    ...spent,
    commits,
    rows,
    walBytes,
    storedBytes,
    recordBytes: await databaseBytes(environment),
  };
  return { atMs, machineMs, nodes: usages, total: forEach((name) => all[name] ?? 0) };
}

/** Use of resources between two readings, for each of some deliveries. */
export function spentBetween(before: Reading, after: Reading, deliveries: number): Spent {
  return forEach((name) => (after.total[name] - before.total[name]) / deliveries);
}

/** The size of what a database holds, before it is compressed. */
async function databaseBytes(environment: Record<string, string>): Promise<number> {
  const connection = await mongoose.createConnection(environment['MONGODB_URI'] ?? '').asPromise();
  try {
    const { dataSize = 0, indexSize = 0 } = (await connection.db?.stats()) ?? {};
    return dataSize + indexSize;
  } finally {
    await connection.close();
  }
}
