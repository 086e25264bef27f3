import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { RunningWorker } from '../../temporal/server/worker.js';
import type { Servers } from './servers.js';

/** Checks of what a process needs to be ready, by name. One that rejects says why not. */
export interface Readiness {
  [name: string]: () => Promise<void>;
  mongodb(): Promise<void>;
  temporal(): Promise<void>;
  /** MongoDB has the indexes of this version. The namespace of Temporal was looked at when the process started. */
  migrated(): Promise<void>;
}

/** How long a server may take to answer a check, milliseconds. */
const CHECK_MS = 2_000;

/**
 * @param worker that of this process, if it has one
 * @param accepting resolves if events can be accepted; absent in a process that does not serve the API
 */
export function createReadiness(
  { database, temporal }: Servers,
  worker: Promise<RunningWorker> | undefined,
  accepting: (() => Promise<void>) | undefined,
): Readiness {
  const { client } = temporal;
  const { namespace } = client.options;
  return {
    mongodb: () => withTimeout(CHECK_MS, database.ping()),
    temporal: async () => {
      await withTimeout(CHECK_MS, client.workflowService.describeNamespace({ namespace }));
    },
    migrated: onceTrue(() => withTimeout(CHECK_MS, requireIndexes(database))),
    ...(accepting && { events: () => withTimeout(CHECK_MS, accepting()) }),
    ...(worker && {
      worker: async () => {
        if (!(await withTimeout(CHECK_MS, worker)).isRunning()) throw new Error('The worker is not running.');
      },
    }),
  };
}

async function requireIndexes(database: Servers['database']): Promise<void> {
  if (!(await database.hasIndexes()))
    throw new Error('MongoDB lacks indexes of this version. Run "hookline migrate".');
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
