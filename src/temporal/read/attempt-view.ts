import { type AttemptFilter, isAsked } from '../../domain/archive/attempt-filter.js';
import { type Attempt, webhookTimestamp } from '../../domain/attempt/attempt.js';
import { hostOf } from '../../domain/ledger/summaries.js';

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
