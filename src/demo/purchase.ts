import type { Hookline } from '../../clients/typescript/src/index.js';
import type { Attempt } from '../domain/attempt/attempt.js';
import { describeAttempt } from '../domain/attempt/outcome.js';
import { formatDuration } from '../domain/basics/duration.js';
import { isClosed, type ShownStatus } from '../domain/delivery/delivery.js';
import type { DemoSubscriber } from './resident.js';

const POLL_MS = 100;

/**
 * Sends one purchase through the public API and tells what becomes of it, until its delivery to the subscriber is
 * closed.
 *
 * @returns the delivery's last status
 */
export async function runPurchase(options: {
  hookline: Hookline;
  apiUrl: string;
  temporalUiUrl: string | undefined;
  namespace: string;
  subscriber: DemoSubscriber;
  say: (line?: string) => void;
  /** Ends the watching, with its reason as the rejection. */
  signal?: AbortSignal;
}): Promise<ShownStatus> {
  const { hookline, apiUrl, subscriber, say } = options;
  const { endpoint_id } = subscriber.registration;
  const step = (name: string, text: string) => say(`${name.padEnd(12)}${text}`);

  step('Endpoint', `${endpoint_id}, gets every purchase at ${subscriber.url}`);
  const purchase = {
    order_id: `demo-${Date.now().toString(36)}`,
    customer_email: 'ada@example.com',
    total: 12.5,
    items: [{ name: 'Notebook', qty: 2 }],
    created_at: new Date().toISOString(),
  };
  const began = performance.now();
  const event = await hookline.postEvent('purchase', purchase);
  step('Event', `${event.id}, accepted with 202 in ${formatDuration(performance.now() - began)}`);

  const deliveryId = event.deliveries?.find((delivery) => delivery.endpoint_id === endpoint_id)?.id;
  if (!deliveryId) throw new Error('the event has no delivery to the demo subscriber');
  const params = { path: { id: deliveryId } };
  const read = () => hookline.get('/v18.0/deliveries/{id}', { params });
  let told = 0;
  let delivery = await read();
  for (;;) {
    for (const attempt of delivery.attempts.slice(told)) {
      step(
        `Attempt ${attempt.number}`,
        `${attempt.at.slice(11, 23)} ${describeAttempt(attempt as Attempt)} after ${formatDuration(attempt.duration_ms)}`,
      );
    }
    const waits = delivery.attempts.length > told && delivery.next_attempt_at;
    if (waits) step('', `the next one at ${delivery.next_attempt_at?.slice(11, 23)}`);
    told = delivery.attempts.length;
    if (isClosed(delivery.status)) break;
    options.signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    delivery = await read();
  }

  const receipts = subscriber.received.filter((request) => request.headers['webhook-id'] === event.id);
  const last = receipts.at(-1);
  if (delivery.status === 'delivered' && last) {
    const verified =
      last.verificationError === undefined
        ? 'signature verified'
        : `signature NOT verified: ${last.verificationError}`;
    step('Delivered', `${last.body.length} bytes, ${verified} by the standardwebhooks package`);
    step('', `webhook-id ${last.headers['webhook-id']}`);
    step('', `webhook-signature ${last.headers['webhook-signature']}`);
  } else {
    step(delivery.status[0]?.toUpperCase() + delivery.status.slice(1), delivery.reason ?? '');
  }
  say();
  say('Look further. The delivery in the API, with your API key:');
  say(`  curl -H 'Authorization: Bearer <API key>' ${apiUrl}/v18.0/deliveries/${deliveryId}`);
  if (options.temporalUiUrl) {
    say('The same delivery in Temporal UI, step by step:');
    say(
      `  ${options.temporalUiUrl}/namespaces/${options.namespace}/workflows/${encodeURIComponent(delivery.workflow_id)}`,
    );
  }
  return delivery.status;
}
