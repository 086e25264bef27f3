import { type Attempt, webhookTimestamp } from '../../domain/attempt/attempt.js';
import { hostOf } from '../../domain/ledger/summaries.js';
import { type AttemptFilter, isAsked } from '../../domain/list/attempt-filter.js';

/** An attempt as the HTTP interface shows it: with what follows from its record, which is therefore not kept in it. */
export type AttemptView = Attempt & {
  url_host: string;
  /** The `webhook-timestamp` header that was sent. */
  webhook_timestamp: number;
};

/** Attempts of one delivery that a list shows; the delivery itself has the others. */
export const MAX_ASKED = 100;

export function viewAttempt(attempt: Attempt): AttemptView {
  const { number, at, duration_ms, url, shortened: _, ...rest } = attempt;
  return {
    number,
    at,
    duration_ms,
    webhook_timestamp: webhookTimestamp(Date.parse(at)),
    ...(url !== undefined && { url }),
    url_host: hostOf(url) ?? '',
    ...rest,
  };
}

/** An attempt that a list was asked for, with the run that made it, and without what was answered: a list can have many. */
export type AskedAttempt = Omit<
  AttemptView,
  'response_headers' | 'response_snippet' | 'response_sealed' | 'timings_ms'
> & {
  run_id: string;
};

/** The attempts of a delivery that a list was asked for, newest run first; of very many the first of them. */
export function askedAttempts(
  runs: readonly { run_id: string; attempts: readonly Attempt[] }[],
  filter: AttemptFilter,
): AskedAttempt[] {
  const asked = runs.flatMap(({ run_id, attempts }) =>
    attempts.filter((attempt) => isAsked(attempt, filter)).map((attempt) => ({ run_id, attempt })),
  );
  return asked.slice(0, MAX_ASKED).map(({ run_id, attempt }) => {
    const {
      response_headers: _,
      response_snippet: __,
      response_sealed: ___,
      timings_ms: ____,
      ...facts
    } = viewAttempt(attempt);
    return { run_id, ...facts };
  });
}

/** The latest attempt of a delivery, as a list shows it if it is asked to. */
export interface LastAttempt {
  number: number;
  /** Absent of an open delivery: lists do not read its record. */
  duration_ms?: number;
  status_code?: number;
  error_code?: Attempt['error_code'];
}

/** The latest of some attempts; `undefined` if there are none. */
export function lastOf(
  attempts: readonly Pick<Attempt, 'number' | 'duration_ms' | 'status_code' | 'error_code'>[],
): LastAttempt | undefined {
  const last = attempts.at(-1);
  if (!last) return undefined;
  const { number, duration_ms, status_code, error_code } = last;
  return { number, duration_ms, ...resultOf({ status_code, error_code }) };
}

/** How an attempt ended. */
export function resultOf({
  status_code,
  error_code,
}: {
  status_code?: number | undefined;
  error_code?: Attempt['error_code'] | undefined;
}): Pick<LastAttempt, 'status_code' | 'error_code'> {
  return {
    ...(status_code !== undefined && { status_code }),
    ...(error_code !== undefined && { error_code }),
  };
}
