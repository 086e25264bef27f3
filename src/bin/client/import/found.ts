import { z } from 'zod';
import { isSharedSecret, toSharedSecret } from '../../../domain/delivery/signature.js';

/** An endpoint of another service, as it is to be registered here. */
export interface ForeignEndpoint {
  /** Its id there. */
  id: string;
  body: {
    target_url: string;
    /** As they are called there; empty if it gets none. */
    event_kinds: string[];
    description?: string;
    metadata: Record<string, string>;
    headers?: Record<string, string>;
    legacy_header_prefix?: string;
    rate_limit?: number;
    status?: 'paused';
    status_reason?: string;
    secret?: string;
  };
  /** Parts of it that are not taken over, or have to be done by hand: a sentence each. */
  notes: string[];
}

/** An endpoint that cannot be registered here, and why. */
export interface LeftOut {
  id: string;
  why: string;
}

/** A list of another service: what its API says in one or several responses, as JSON. */
export interface Format {
  /** Its name as people know it. */
  name: string;
  /** Notes about every endpoint of it: a sentence each. */
  about: readonly string[];
  /** @throws ZodError where the list is not in the form of that service's API */
  read(documents: readonly unknown[]): (ForeignEndpoint | LeftOut)[];
}

/**
 * The parts of responses: a response is a page, or an array of pages or parts, as `jq --slurp` makes it.
 *
 * @param partsOf the array of parts in a page; `undefined` if it is none
 */
export function partsIn(documents: readonly unknown[], partsOf: (page: object) => unknown): unknown[] {
  return documents.flatMap((document) => {
    if (Array.isArray(document)) return partsIn(document, partsOf);
    const parts = typeof document === 'object' && document !== null ? partsOf(document) : undefined;
    return Array.isArray(parts) ? partsIn(parts, partsOf) : [document];
  });
}

/** A field that may be absent or null. */
export const may = <T extends z.ZodType>(type: T) => type.nullish();

/** Names and values. */
export const texts = z.record(z.string(), z.string());

/**
 * The secret that a subscriber has, as a library of Standard Webhooks takes it: as it is, if it has that form;
 * otherwise the same key in that form, if it is long enough.
 */
export function secretOf(text: string | null | undefined): { secret?: string; notes: string[] } {
  if (!text)
    return { notes: ['The export has no secret of it: a new one is made. Give it to the subscriber.'] };
  if (isSharedSecret(text)) return { secret: text, notes: [] };
  const secret = toSharedSecret(Buffer.from(text));
  return isSharedSecret(secret)
    ? { secret, notes: ['Its secret is the same key, written as a library of Standard Webhooks takes it.'] }
    : { notes: ['Its secret is not 24 to 64 bytes long: a new one is made. Give it to the subscriber.'] };
}

/**
 * The status of an endpoint that was not in use there, or that would get here what it did not get there.
 *
 * @param was what it was there, if not active
 * @param choice what chose its events there and is not taken over
 */
export function pausedIf(
  was: string | false | null | undefined,
  choice: string | false | undefined,
  service: string,
) {
  if (!was && !choice) return {};
  const status_reason = was
    ? `It was ${was} in ${service} when it was imported.`
    : `Its ${choice} in ${service} is not taken over: give it a filter, then resume it.`;
  return { status: 'paused', status_reason } as const;
}
