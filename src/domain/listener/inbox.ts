/**
 * A test inbox is a listener whose program is Hookline itself: what is delivered to it can be looked at, for as long as
 * the inbox lasts.
 */

import { UNITS } from '../basics/duration.js';
import type { SentForm } from '../sending/sent-form.js';

/** How long an inbox lasts, and what it has received is kept, milliseconds. */
export const INBOX_MS = UNITS.h;
/** Inboxes that an account may have at once. */
export const MAX_INBOXES = 5;
/** Requests that are kept of an account; older ones go. Their bodies are made again from the events. */
export const MAX_RECEIVED = 100;
/** The most of the headers of one request that is kept, characters. */
export const MAX_RECEIVED_HEADERS = 4_096;

/** A request that an inbox has received. */
export interface ReceivedRequest {
  id: string;
  endpoint_id: string;
  event_id: string;
  /** ISO 8601, UTC. */
  received_at: string;
  headers: Record<string, string>;
  /** The form of the body; absent if an earlier release has received it. */
  form?: SentForm;
  /** Length of the body as received. */
  body_bytes: number;
  /** Why the signature is none of the endpoint's, by the library that subscribers are told to use; absent if it is. */
  signature_error?: string;
}

/** Text that stands for a URL, as for every listener. */
export function inboxUrl(endpointId: string): string {
  return `https://inbox.invalid/${endpointId}`;
}
