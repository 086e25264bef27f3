import { HooklineConnectionError, retryAfterMs } from './errors.js';

/** How a request that failed for a passing reason is tried again. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time included. Default 5; 1 turns retries off. */
  tries?: number;
  /** A server that asks for a longer wait than this gets no further try, milliseconds. Default 60,000. */
  maxWaitMs?: number;
  /** How long one try may take, its answer included, milliseconds. Default 30,000. */
  timeoutMs?: number;
}

export const RETRY_DEFAULTS = { tries: 5, maxWaitMs: 60_000, timeoutMs: 30_000 } as const;

/** The wait before the second try if the server names none, milliseconds; it doubles with each further try. */
const FIRST_WAIT_MS = 250;
const LONGEST_OWN_WAIT_MS = 8_000;
/** Above what `Retry-After` asks for, at most: clients that were told the same second do not come back together. */
const JITTER_MS = 500;

const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Answers of a server, or of a proxy before it, that is busy or away. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * A `fetch` that tries again.
 *
 * A request that may be repeated (any but a `POST` without `Idempotency-Key`) is sent again after a lost connection, a
 * timeout, and 429, 502, 503 and 504. Any other `POST` is sent again after 429 alone, because only that says that
 * nothing was done. The answer's body is read within the try, so that an answer that breaks off counts as lost.
 *
 * @throws {HooklineConnectionError} if no try was answered
 * @throws the reason of the request's signal if that was aborted
 */
export function retryingFetch(
  send: typeof fetch,
  { tries, maxWaitMs, timeoutMs }: Required<RetryOptions>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { signal } = request;
    const mayRepeat = IDEMPOTENT.has(request.method) || request.headers.has('idempotency-key');
    let answerWasLost = false;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= tries;
      let waitMs = ownWaitMs(attempt);
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        const response = await whole(await send(request.clone(), { signal: limited }));
        if (answerWasLost && request.method === 'DELETE' && response.status === 404)
          return new Response(null, { status: 204 }); // the try whose answer was lost has deleted it
        if (isLast || !PASSING.has(response.status) || !(mayRepeat || response.status === 429))
          return response;
        const asked = retryAfterMs(response.headers.get('retry-after'), Date.now());
        if (asked !== undefined && asked > maxWaitMs) return response;
        if (asked !== undefined) waitMs = asked + Math.random() * JITTER_MS;
        if (response.status !== 429) answerWasLost = true;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isLast || !mayRepeat) throw new HooklineConnectionError(request.url, error);
        answerWasLost = true;
      }
      await pause(waitMs, signal);
    }
  };
}

/** Exponential, with jitter over the upper half. */
function ownWaitMs(attempt: number): number {
  const longest = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_OWN_WAIT_MS);
  return longest * (0.5 + Math.random() / 2);
}

/** The answer with its body read. A status that has no body must not be given one. */
async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    function onAbort() {
      clearTimeout(timer);
      reject(signal.reason);
    }
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
