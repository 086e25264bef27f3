import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { connectTemporal } from '../src/temporal/connection.js';
import { percentile } from './statistics.js';
import type { BenchServers } from './system.js';

/** What the engine can do at all. */
export interface Floor {
  /** Empty workflows, started eagerly and completed, per second. */
  perSecond: number;
  /** One start call with nothing else going on, median, milliseconds. */
  startCallMs: number;
}

/** Measures empty workflows: started from `concurrency` places at once, and one by one. */
export async function measureFloor(
  servers: BenchServers,
  workflows: number,
  concurrency: number,
): Promise<Floor> {
  const connection = await connectTemporal({
    address: servers.temporalAddress,
    namespace: servers.namespace,
  });
  const taskQueue = `floor-${Date.now()}`;
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('workflows/index.js', import.meta.url)),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const worker = await Worker.create({
    connection: connection.native,
    namespace: servers.namespace,
    taskQueue,
    workflowBundle,
    maxConcurrentWorkflowTaskExecutions: 200,
  });
  const running = worker.run();
  let started = 0;
  const start = async (): Promise<number> => {
    const began = performance.now();
    started += 1;
    const workflowId = `${taskQueue}-${started}`;
    await connection.client.workflow.start('empty', { workflowId, taskQueue, requestEagerStart: true });
    return performance.now() - began;
  };
  const untilCompleted = async (): Promise<void> => {
    for (;;) {
      const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Completed'`;
      const { count } = await connection.client.workflow.count(query);
      if (count >= started) return;
      await delay(5);
    }
  };

  const calls: number[] = [];
  for (let index = 0; index < 50; index += 1) calls.push(await start());
  await untilCompleted();

  const began = performance.now();
  let left = workflows;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left > 0) {
        left -= 1;
        await start();
      }
    }),
  );
  await untilCompleted();
  const perSecond = workflows / ((performance.now() - began) / 1_000);

  worker.shutdown();
  await running;
  await connection.close();
  return { perSecond, startCallMs: percentile(calls, 50) };
}
