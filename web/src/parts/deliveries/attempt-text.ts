import { type DeliverySummary, isOpen, type Schemas } from '../../api/types.js';
import { formatTenths } from '../../ui/count.js';

/** A length of time for people, such as 86 ms or 2.4 s. */
export function formatMs(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${formatTenths(ms / 1_000)} s`;
}

/** A delivery of a list that was asked for its latest attempt. */
export type WithLastAttempt = Pick<DeliverySummary, 'status'> &
  Pick<Schemas['ListedDelivery'], 'last_attempt' | 'max_attempts'>;

/** How the latest attempt went, such as "204 · 3 ms" or "503 · attempt 3 of 10"; nothing if none is known. */
export function lastAttemptText({ status, last_attempt, max_attempts }: WithLastAttempt): string {
  if (!last_attempt) return '';
  const { number, status_code, error_code, duration_ms } = last_attempt;
  const most =
    isOpen(status) && max_attempts !== undefined && number <= max_attempts ? ` of ${max_attempts}` : '';
  return [
    status_code ?? error_code?.replaceAll('_', ' '),
    duration_ms === undefined ? undefined : formatMs(duration_ms),
    number > 1 || most ? `attempt ${number}${most}` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}
