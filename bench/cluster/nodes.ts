import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../packages/embedded-servers/src/index.js';
import { migrate } from '../../src/bin/migrate.js';
import { loadSettings } from '../../src/config/load.js';
import { type ChaosNode, chaosNode } from '../chaos/world/node.js';
import type { ClusterServers } from './servers.js';

/** Hookline processes that share servers, a database and a task queue. */
export interface Nodes {
  nodes: ChaosNode[];
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts `hookline serve` so many times, after `hookline migrate`. What they write stands in the servers' folder. */
export async function startNodes(
  servers: ClusterServers,
  count: number,
  overrides: Record<string, string> = {},
): Promise<Nodes> {
  // As in an installation, processes count together.
  const environment = servers.environment({ HOOKLINE_RATE_LIMIT_STORE: 'mongodb', ...overrides });
  await migrate(loadSettings(environment), () => {});
  const folder = join(servers.folder, 'logs', environment['HOOKLINE_TASK_QUEUE'] ?? '');
  await mkdir(folder, { recursive: true });
  const nodes: ChaosNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let number = 1; number <= count; number += 1) {
      const node = chaosNode(environment, await freePort(), join(folder, `node-${number}.log`));
      nodes.push(node);
      node.start();
    }
    await Promise.all(nodes.map((node) => node.ready()));
    return { nodes, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
