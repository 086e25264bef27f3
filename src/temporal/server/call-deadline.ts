import type { ConnectionLike } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';

/**
 * How long one try of a call to Temporal may take, milliseconds: below the eight seconds after which the API gives up, and above the time in
 * which a server that was killed is usually back. The SDK's own limit is 30 s.
 */
export const CALL_DEADLINE_MS = 7_500;

/**
 * A connection that gives each call a deadline, so that calls fail soon if a server accepts them and stays silent. A deadline around a
 * whole request is not enough, because the start call of a group is made for many requests.
 *
 * @returns a connection for clients; a worker takes the original, whose polls wait for a minute
 */
export function withCallDeadlines(native: NativeConnection): ConnectionLike {
  const service = native.workflowService;
  /** A caller's own deadline counts, too: a deadline within another one replaces it. */
  const deadline = () =>
    Math.min(
      Date.now() + CALL_DEADLINE_MS,
      Number(native.callContextStorage.getStore()?.deadline ?? Infinity),
    );
  const workflowService = new Proxy(service, {
    get(_, name) {
      const member: unknown = Reflect.get(service, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        waitsOnPurpose(args[0])
          ? member.apply(service, args)
          : native.withDeadline(deadline(), () => member.apply(service, args));
    },
  });
  return Object.create(native, { workflowService: { value: workflowService } });
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
