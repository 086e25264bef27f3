import { commitTo } from '../privacy/data-key.js';

/** The answer header with which a subscriber may sign what it received. */
export const RECEIPT_HEADER = 'webhook-receipt';

/** An attempt with what is kept of its answer. */
interface Answered {
  response_headers?: Readonly<Record<string, string>> | undefined;
}

/** A subscriber's receipt of an attempt; `undefined` if it sent none. */
export function receiptOf({ response_headers }: Answered): string | undefined {
  return response_headers?.[RECEIPT_HEADER];
}

/**
 * A commitment to a receipt. A subscriber may have put anything in there, so a record has no receipt itself: it goes with the key of the event.
 *
 * @param salt of the event
 */
export function commitToReceipt(salt: Buffer, deliveryId: string, attempt: number, receipt: string): string {
  return commitTo(salt, `${deliveryId} ${attempt} ${receipt}`);
}
