import { parseHttpDate } from './http-date.js';
import type { components } from './schema.js';

/** Response of the API when it refuses a request (RFC 9457). */
export type Problem = components['schemas']['Problem'];

/** A fault of one field or parameter of the request. */
export type FieldError = NonNullable<Problem['errors']>[number];

/** Stands as `code` of an answer that is not from Hookline, such as the error page of a proxy. */
export const UNEXPECTED_ANSWER = 'unexpected_answer';

/** The API answered, and refused the request or could not serve it. */
export class HooklineError extends Error {
  override readonly name = 'HooklineError';
  /** HTTP status. */
  readonly status: number;
  /** Stable: what a program decides by, such as `rate_limited`. `unexpected_answer` if Hookline did not answer. */
  readonly code: string;
  /** Errors of single fields and parameters; empty if there are none. */
  readonly errors: readonly FieldError[];
  /** Names the request in the log of the server. */
  readonly requestId: string | undefined;
  /** How long the server asked to wait before the next try, milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The problem as it was sent. */
  readonly problem: Problem | undefined;

  constructor(response: Response, body: unknown) {
    const problem = isProblem(body) ? body : undefined;
    super(problem?.detail ?? `The server responded with ${response.status} without saying why.`);
    this.status = response.status;
    this.code = problem?.code ?? UNEXPECTED_ANSWER;
    this.errors = problem?.errors ?? [];
    this.requestId = problem?.request_id ?? response.headers.get('x-request-id') ?? undefined;
    this.retryAfterMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
    this.problem = problem;
  }
}

/** No answer came: the server could not be reached, or not in time. `cause` says why. */
export class HooklineConnectionError extends Error {
  override readonly name = 'HooklineConnectionError';
  /** The origin that did not answer. No path: a path or query may hold what is no business of a log. */
  readonly origin: string;

  constructor(url: string, cause: unknown) {
    const { origin } = new URL(url);
    super(`${origin} did not respond: ${reasonOf(cause)}`, { cause });
    this.origin = origin;
  }
}

/**
 * Reads `Retry-After`: seconds, or an HTTP date in any of its three forms (RFC 9110, sections 10.2.3 and 5.6.7).
 *
 * @returns milliseconds from `nowMs` on, 0 or more; undefined if there is no such header or it is not valid
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = parseHttpDate(text, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}

/** `fetch` says "fetch failed" and hides the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long';
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}
