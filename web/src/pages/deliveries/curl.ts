import type { Attempt, Delivery } from '../../api/types.js';

/**
 * A command that makes the same request, to try an application with. The signature is not kept, so the placeholder
 * fails every check.
 *
 * @param payload as it was received; absent if it cannot be read
 */
export function curlOf(
  { url, url_host, number, webhook_timestamp }: Attempt,
  { event_id, event_kind }: Pick<Delivery, 'event_id' | 'event_kind'>,
  payload: string | undefined,
): string {
  const headers = [
    'content-type: application/json',
    `webhook-id: ${event_id}`,
    `webhook-timestamp: ${webhook_timestamp}`,
    'webhook-signature: v1,…',
    `webhook-event-kind: ${event_kind}`,
    `webhook-attempt: ${number}`,
  ];
  return [
    `curl ${quote(url ?? `https://${url_host}/`)}`,
    ...headers.map((header) => `-H ${quote(header)}`),
    `--data-binary ${quote(payload ?? '{}')}`,
  ].join(' \\\n  ');
}

/** As a shell takes a text verbatim. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
