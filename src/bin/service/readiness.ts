import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { RunningWorker } from '../../temporal/server/worker.js';
import type { Servers } from './servers.js';

/** What must hold for the service to be ready: name and check. A check that rejects says why. */
export type Readiness = Record<string, () => Promise<void>>;

/** How long a server may take to answer a check, milliseconds. */
const CHECK_MS = 2_000;

/** @param worker that of this process; `undefined` where it has none, or it does not run yet */
export function createReadiness(
  { database, temporal: { client } }: Servers,
  hasWorker: boolean,
  worker: () => RunningWorker | undefined,
): Readiness {
  const { namespace } = client.options;
  return {
    mongodb: () => withTimeout(CHECK_MS, database.ping()),
    temporal: async () =>
      void (await withTimeout(CHECK_MS, client.workflowService.describeNamespace({ namespace }))),
    ...(hasWorker && {
      worker: async () => {
        if (!worker()?.isRunning()) throw new Error('the worker is not running');
      },
    }),
  };
}
