import { Problem } from '../../../domain/http/problem.js';
import { LogAlteredError } from '../../../domain/log/log-altered.js';
import { RecordAlteredError } from '../../../domain/records/record-altered.js';
import {
  DeliveryStateConflictError,
  InvalidCursorError,
  LedgerBusyError,
  NoWorkerError,
  ReplayStateConflictError,
  TooManyReplaysError,
  visibilityBusy,
} from '../../../temporal/errors.js';
import type { ApiDependencies, Context, Middleware } from '../context.js';
import { PROBLEM_TYPE, problemDocument } from '../problems/document.js';

/**
 * Seconds after which a caller may send an event again that this process had no room for, or try again when a server
 * behind cannot be reached.
 */
const RETRY_AFTER_S = { busy: 1, unavailable: 2 };

/**
 * Answers every error as a problem document (RFC 9457). An error that is not a {@link Problem} becomes a 503 if a
 * server behind Hookline cannot be reached, and otherwise a 500. A 500 says nothing about its cause, which is in the
 * log under the request's id.
 */
export function answerProblems({
  logger,
  isUnavailable,
  publicUrl,
}: Pick<ApiDependencies, 'logger' | 'isUnavailable' | 'publicUrl'>): Middleware {
  const toProblem = (ctx: Context, error: unknown): Problem => {
    const known = knownProblem(error);
    if (known) return known;
    const busy = visibilityBusy(error);
    if (busy) return unavailable(ctx, busy.message);
    if (!isUnavailable(error))
      return new Problem(
        'internal_error',
        'The error has been logged. Quote the request_id when you report it.',
      );
    return outOfReach(ctx);
  };

  /** A refusal of our own is logged without a stack: there may be thousands of them under overload. */
  const note = (problem: Problem, error: unknown, request_id: string): void => {
    if (problem.code === 'log_altered' || problem.code === 'record_altered')
      logger.error({ request_id }, problem.message);
    if (problem.status < 500) return;
    // An outage is logged once, and thousands of requests may be answered like this meanwhile.
    if (problem.code === 'unavailable') logger.debug({ request_id, err: error }, problem.message);
    else logger.error({ request_id, err: error }, problem.title);
  };

  return async (ctx, next) => {
    try {
      await next();
      if (ctx.respond === false) return; // the OAuth server has answered
      const missing = ctx.body === undefined || ctx.body === null ? missingProblem(ctx) : undefined;
      if (missing) render(ctx, missing, publicUrl);
    } catch (error) {
      const problem = toProblem(ctx, error);
      if (problem instanceof OutOfReach) ctx.state.uncount?.();
      note(problem, error, ctx.state.request_id);
      render(ctx, problem, publicUrl);
    }
  };
}

const EVENTS_PATH = /^\/[^/]+\/events(\/|$)/;

/** Text for callers during an outage of a server behind Hookline. */
export const OUT_OF_REACH = 'A server that Hookline needs does not respond.';

/** An outage, which is no fault of the caller. */
class OutOfReach extends Problem {}

/**
 * The response when a server behind Hookline cannot be reached or stays silent. The request may have taken effect all
 * the same, so the response claims nothing.
 */
export function outOfReach(ctx: Context): Problem {
  return unavailable(ctx, OUT_OF_REACH, OutOfReach);
}

/** @param reason why the request was not carried out, or not to its end */
function unavailable(ctx: Context, reason: string, Kind = Problem): Problem {
  const { method, path } = ctx;
  const advice =
    method === 'GET' || method === 'HEAD'
      ? 'Try again.'
      : EVENTS_PATH.test(path)
        ? adviceOfEvent(ctx)
        : 'It is not known whether the request took effect: check, or send it again.';
  return new Kind('unavailable', `${reason} ${advice}`, {
    headers: { 'retry-after': String(RETRY_AFTER_S.unavailable) },
  });
}

/** Advice for a producer who does not know whether an event was accepted. */
function adviceOfEvent({ state: { event_id }, req, path }: Context): string {
  if (/\/events\/?$/.test(path))
    return 'It is not known which events were accepted: send the request again; an event with an idempotency_key is accepted once.';
  const unknown = 'It is not known whether the event was accepted';
  if (req.headers['idempotency-key'] !== undefined)
    return `${unknown}: send it again with the same Idempotency-Key.`;
  const found = event_id === undefined ? '' : ` If it was accepted, GET /events/${event_id} has it.`;
  return `${unknown}, and it has no Idempotency-Key: sent again, it is another event.${found}`;
}

/** The problem that an error is, or stands for; `undefined` if it is of a server behind, or a fault. */
export function knownProblem(error: unknown): Problem | undefined {
  return error instanceof Problem ? error : ledgerProblem(error);
}

/** The problem that an error of `src/temporal` stands for. */
function ledgerProblem(error: unknown): Problem | undefined {
  const tryAgain = (detail: string, seconds: number) =>
    new Problem('unavailable', detail, { headers: { 'retry-after': String(seconds) }, cause: error });
  if (error instanceof LedgerBusyError)
    return tryAgain(`${error.message} Nothing was accepted; send it again.`, RETRY_AFTER_S.busy);
  if (error instanceof NoWorkerError)
    return tryAgain(
      `${error.message} The request may still take effect: read the delivery before you send it again.`,
      Math.ceil(error.waitedMs / 1_000),
    );
  if (error instanceof DeliveryStateConflictError)
    return new Problem('delivery_state_conflict', error.message, { cause: error });
  if (error instanceof ReplayStateConflictError)
    return new Problem('replay_state_conflict', error.message, { cause: error });
  if (error instanceof TooManyReplaysError)
    return new Problem('replay_limit_reached', error.message, { cause: error });
  if (error instanceof LogAlteredError)
    return new Problem('log_altered', `Nothing is proven: ${error.message}.`, { cause: error });
  if (error instanceof RecordAlteredError)
    return new Problem('record_altered', `A record was altered in the database: ${error.message}.`, {
      cause: error,
    });
  if (error instanceof InvalidCursorError)
    return new Problem('invalid_request', error.message, {
      errors: [{ parameter: 'after', detail: 'must be a cursor that an earlier page of this list gave' }],
      cause: error,
    });
  return undefined;
}

/** The router sets a status alone if no route matched the request. */
function missingProblem(ctx: Context): Problem | undefined {
  const { status, method, path } = ctx;
  if (status === 404) return new Problem('not_found', `There is nothing at ${path}.`);
  if (status !== 405 && status !== 501) return undefined;
  const allowed = ctx.response.get('allow');
  const detail = `${method} is not allowed for this path. Allowed: ${allowed}.`;
  return new Problem('method_not_allowed', detail);
}

/** @param publicUrl where `/errors/{code}` says more about the problem */
function render(ctx: Context, problem: Problem, publicUrl: string): void {
  ctx.status = problem.status;
  ctx.set(problem.headers);
  ctx.body = problemDocument(problem, publicUrl, ctx.state.request_id);
  ctx.type = PROBLEM_TYPE;
}
