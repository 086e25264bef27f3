import { fileURLToPath } from 'node:url';
import type { TypedSearchAttributes } from '@temporalio/common';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { newId } from '../src/domain/basics/ids.js';
import { deliveryAttributes } from '../src/domain/ledger/search-attributes.js';
import { connectTemporal } from '../src/temporal/server/connection.js';
import { steadily } from './support/load.js';
import { percentile } from './support/statistics.js';
import type { BenchServers } from './support/system.js';
import { until } from './support/until.js';

/** Limits of the engine itself. */
export interface Floor {
  /** Empty workflows, started eagerly and completed, per second. */
  perSecond: number;
  /**
   * The same with an empty local activity and a delivery's search attributes: what a delivery by itself cannot beat.
   */
  leastDeliveryPerSecond: number;
  /** One start call with nothing else going on, median, milliseconds. */
  startCallMs: number;
  /** One start call of an empty workflow, at the rate of the latency run; median, milliseconds. */
  steadyStartCallMs: number;
}

/** Workflows that are run before anything is measured. */
const WARM_UP = 500;
const SINGLE_CALLS = 100;
const STEADY_SECONDS = 10;

/**
 * Measures empty workflows: started from `concurrency` places at once, one by one, and at a steady rate.
 *
 * @param perSecond the steady rate
 */
export async function measureFloor(
  servers: BenchServers,
  { workflows, concurrency, perSecond }: { workflows: number; concurrency: number; perSecond: number },
): Promise<Floor> {
  const connection = await connectTemporal({
    address: servers.temporalAddress,
    namespace: servers.namespace,
  });
  const taskQueue = `floor-${Date.now()}`;
  const workflowsPath = fileURLToPath(new URL('workflows/index.js', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [workflowsPath],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const worker = await Worker.create({
    connection: connection.native,
    namespace: servers.namespace,
    taskQueue,
    workflowBundle,
    activities: { attempt: async () => {} },
    maxConcurrentWorkflowTaskExecutions: 200,
  });
  const running = worker.run();
  let started = 0;
  const start = async (type = 'empty', attributes?: TypedSearchAttributes): Promise<number> => {
    const began = performance.now();
    started += 1;
    await connection.client.workflow.start(type, {
      workflowId: `${taskQueue}-${started}`,
      taskQueue,
      requestEagerStart: true,
      ...(attributes && { typedSearchAttributes: attributes }),
    });
    return performance.now() - began;
  };
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Completed'`;
  const untilCompleted = () =>
    until(async () => (await connection.client.workflow.count(query)).count >= started);
  const saturate = async (count: number, startOne: () => Promise<number>): Promise<number> => {
    const began = performance.now();
    let left = count;
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left > 0) {
          left -= 1;
          await startOne();
        }
      }),
    );
    await untilCompleted();
    return count / ((performance.now() - began) / 1_000);
  };
  const startLeast = () => start('leastDelivery', deliveryAttributes(anEvent(), newId('endpoint')));

  await saturate(WARM_UP, () => start());
  const saturated = await saturate(workflows, () => start());
  await saturate(WARM_UP / 2, startLeast);
  const leastDeliveryPerSecond = await saturate(workflows, startLeast);

  const single: number[] = [];
  for (let index = 0; index < SINGLE_CALLS; index += 1) single.push(await start());
  await untilCompleted();
  const steadyCalls = await steadily(perSecond, STEADY_SECONDS, () => start());
  await untilCompleted();

  worker.shutdown();
  await running;
  await connection.close();
  return {
    perSecond: saturated,
    leastDeliveryPerSecond,
    startCallMs: percentile(single, 50),
    steadyStartCallMs: percentile(steadyCalls, 50),
  };
}

function anEvent() {
  return { account_id: newId('account'), event_id: newId('event'), event_kind: 'purchase' };
}
