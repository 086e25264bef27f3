import type { Client, ConnectionLike } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { VisibilityPace } from './visibility-pace.js';

/**
 * How long one try of a call to Temporal may take, milliseconds: below the eight seconds after which the API gives up,
 * and above the time in which a server that was killed is usually back. The SDK's own limit is 30 s.
 */
const CALL_DEADLINE_MS = 7_500;

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

/**
 * A connection that gives each call a deadline, so that calls fail soon if a server accepts them and stays silent. A
 * deadline around a whole request is not enough, because the start call of a group is made for many requests.
 *
 * @returns a connection for clients; a worker takes the original, whose polls wait for a minute
 */
export function withCallDeadlines(native: NativeConnection): ConnectionLike {
  return around(native, (_, request, call) => {
    if (waitsOnPurpose(request)) return call();
    // A caller's own deadline counts, too: a deadline within another one replaces it.
    const own = Number(native.callContextStorage.getStore()?.deadline ?? Infinity);
    return native.withDeadline(Math.min(Date.now() + CALL_DEADLINE_MS, own), call);
  });
}

/** Makes calls that end within a time. The SDK compares a deadline with this machine's clock. */
export function endingWithin<T>(
  client: Pick<Client, 'withDeadline'>,
  ms: number,
  calls: () => Promise<T>,
): Promise<T> {
  return client.withDeadline(Date.now() + ms, calls);
}

/** A connection whose visibility calls are made at a pace. */
export function atVisibilityPace(connection: ConnectionLike, pace: VisibilityPace): ConnectionLike {
  return around(connection, (name, _request, call) => (VISIBILITY_CALLS.has(name) ? pace.ask(call) : call()));
}

/** A connection whose calls are made by a function. */
function around(
  connection: ConnectionLike,
  make: (name: string | symbol, request: unknown, call: () => Promise<unknown>) => Promise<unknown>,
): ConnectionLike {
  const service = connection.workflowService;
  const workflowService = new Proxy(service, {
    get(_, name) {
      const member: unknown = Reflect.get(service, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => make(name, args[0], () => member.apply(service, args));
    },
  });
  return Object.create(connection, { workflowService: { value: workflowService } });
}

/** Whether a call is a long poll, such as for an execution's result. */
function waitsOnPurpose(request: unknown): boolean {
  return (
    typeof request === 'object' &&
    request !== null &&
    'waitNewEvent' in request &&
    request.waitNewEvent === true
  );
}
