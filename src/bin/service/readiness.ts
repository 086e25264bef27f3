import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { RunningWorker } from '../../temporal/server/worker.js';
import type { Servers } from './servers.js';

/** What must hold for the service to be ready: name and check. A check that rejects says why. */
export type Readiness = Record<string, () => Promise<void>>;

/** How long a server may take to answer a check, milliseconds. */
const CHECK_MS = 2_000;

/** @param worker that of this process, if it has one */
export function createReadiness(
  { database, temporal: { client } }: Servers,
  worker: Promise<RunningWorker> | undefined,
): Readiness {
  const { namespace } = client.options;
  return {
    mongodb: () => withTimeout(CHECK_MS, database.ping()),
    temporal: async () => {
      await withTimeout(CHECK_MS, client.workflowService.describeNamespace({ namespace }));
    },
    ...(worker && {
      worker: async () => {
        if (!(await withTimeout(CHECK_MS, worker)).isRunning()) throw new Error('the worker is not running');
      },
    }),
  };
}
