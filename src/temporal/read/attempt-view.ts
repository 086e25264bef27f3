import { parseUrl } from '../../domain/basics/parse-url.js';
import { type Attempt, webhookTimestamp } from '../../domain/delivery/delivery.js';

/** An attempt as the HTTP interface shows it: with what follows from its record, which is therefore not kept in it. */
export type AttemptView = Attempt & {
  url_host: string;
  /** The `webhook-timestamp` header that was sent. */
  webhook_timestamp: number;
};

export function viewAttempt(attempt: Attempt): AttemptView {
  const { number, at, duration_ms, url = '', url_host = parseUrl(url)?.host ?? '', ...rest } = attempt;
  return {
    number,
    at,
    duration_ms,
    webhook_timestamp: webhookTimestamp(Date.parse(at)),
    ...(url && { url }),
    url_host,
    ...rest,
  };
}
