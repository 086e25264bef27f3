import type { ConnectionLike } from '@temporalio/client';
import type { VisibilityBudget } from './visibility-budget.js';

/**
 * The calls that Temporal counts as visibility calls, as far as a client's are among them
 * (https://docs.temporal.io/cloud/limits#visibility-api-rate-limit).
 */
const VISIBILITY_CALLS = new Set<string | symbol>([
  'listWorkflowExecutions',
  'listOpenWorkflowExecutions',
  'listClosedWorkflowExecutions',
  'scanWorkflowExecutions',
  'countWorkflowExecutions',
  'listSchedules',
  'countSchedules',
  'listBatchOperations',
  'describeTaskQueue',
  'getWorkerTaskReachability',
  'listDeployments',
  'getDeploymentReachability',
  'listWorkerDeployments',
]);

/** A connection whose visibility calls are made as a budget allows, whoever makes them. */
export function withVisibilityBudget(connection: ConnectionLike, budget: VisibilityBudget): ConnectionLike {
  const service = connection.workflowService;
  const workflowService = new Proxy(service, {
    get(_, name) {
      const member: unknown = Reflect.get(service, name);
      if (typeof member !== 'function' || !VISIBILITY_CALLS.has(name)) return member;
      return (...args: unknown[]) =>
        budget.ask(JSON.stringify([name, args[0]]), () => member.apply(service, args));
    },
  });
  return Object.create(connection, { workflowService: { value: workflowService } });
}
