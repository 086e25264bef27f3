import { withTimeout } from '../../domain/basics/with-timeout.js';
import { requirePreparedNamespace } from '../../temporal/server/namespace.js';
import type { RunningWorker } from '../../temporal/server/worker.js';
import type { Servers } from './servers.js';

/** What must hold for a process to be ready. A check that rejects says why not. */
export interface Readiness {
  [name: string]: () => Promise<void>;
  mongodb(): Promise<void>;
  temporal(): Promise<void>;
  /** `hookline migrate` has been run for this version. */
  migrated(): Promise<void>;
}

/** How long a server may take to answer a check, milliseconds. */
const CHECK_MS = 2_000;

/** @param worker that of this process, if it has one */
export function createReadiness(servers: Servers, worker: Promise<RunningWorker> | undefined): Readiness {
  const { database, temporal } = servers;
  const { client } = temporal;
  const { namespace } = client.options;
  return {
    mongodb: () => withTimeout(CHECK_MS, database.ping()),
    temporal: async () => {
      await withTimeout(CHECK_MS, client.workflowService.describeNamespace({ namespace }));
    },
    migrated: onceTrue(() => withTimeout(CHECK_MS, requireMigrated(servers))),
    ...(worker && {
      worker: async () => {
        if (!(await withTimeout(CHECK_MS, worker)).isRunning()) throw new Error('The worker is not running.');
      },
    }),
  };
}

async function requireMigrated({ database, temporal }: Servers): Promise<void> {
  const [hasIndexes] = await Promise.all([
    database.hasIndexes(),
    requirePreparedNamespace(temporal, temporal.client.options.namespace),
  ]);
  if (!hasIndexes) throw new Error('MongoDB lacks indexes of this version. Run "hookline migrate".');
}

/** A check that is not made again once it has passed. */
function onceTrue(check: () => Promise<void>): () => Promise<void> {
  let hasPassed = false;
  return async () => {
    if (hasPassed) return;
    await check();
    hasPassed = true;
  };
}
