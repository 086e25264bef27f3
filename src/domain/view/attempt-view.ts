import { type Attempt, webhookTimestamp } from '../attempt/attempt.js';
import { omit } from '../basics/objects.js';
import type { AcceptedEvent } from '../delivery/delivery.js';
import { contextOf } from '../delivery/sealed-event.js';
import { hostOf } from '../ledger/summaries.js';
import { type AttemptFilter, isAsked } from '../list/attempt-filter.js';
import type { PayloadSealer } from '../privacy/payload-sealer.js';

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

/** Attempts of an event's delivery; those that are sealed are whole as long as the key exists that seals them. */
export function openAttempts(
  sealer: PayloadSealer,
  event: Pick<AcceptedEvent, 'account_id' | 'event_id'>,
  attempts: readonly Attempt[] = [],
): Promise<AttemptView[]> {
  return Promise.all(
    attempts.map(async ({ sealed, ...facts }) => {
      const whole = sealed === undefined ? undefined : await sealer.open(contextOf(event), sealed);
      return viewAttempt({ ...(whole !== undefined && JSON.parse(whole)), ...facts });
    }),
  );
}

/**
 * An attempt that a list was asked for, with the run that made it, and without what was answered: a list can have many.
 */
export type AskedAttempt = Omit<
  AttemptView,
  'response_headers' | 'response_snippet' | 'sealed' | 'timings_ms'
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
    const view = viewAttempt(attempt);
    return { run_id, ...omit(view, 'response_headers', 'response_snippet', 'sealed', 'timings_ms') };
  });
}

/** How an attempt ended. */
type ResultFields = Pick<Attempt, 'status_code' | 'error_code'>;

/**
 * The latest attempt of a delivery, as a list shows it if it is asked to; of an open one without its duration: lists do
 * not read its record.
 */
export type LastAttempt = Pick<Attempt, 'number'> & Partial<Pick<Attempt, 'duration_ms'>> & ResultFields;

/** The latest of some attempts; `undefined` if there are none. */
export function lastOf(
  attempts: readonly (Pick<Attempt, 'number' | 'duration_ms'> & ResultFields)[],
): LastAttempt | undefined {
  const last = attempts.at(-1);
  return last && { number: last.number, duration_ms: last.duration_ms, ...resultOf(last) };
}

export function resultOf({ status_code, error_code }: ResultFields): ResultFields {
  return {
    ...(status_code !== undefined && { status_code }),
    ...(error_code !== undefined && { error_code }),
  };
}
