import type { EndpointKey } from '../../src/domain/delivery/delivery.js';
import type { VerificationSubject } from '../../src/domain/endpoint/endpoint.js';
import { CURRENT_VERSION } from '../../src/domain/http/versions.js';
import type { HttpPoster, PendingEndpoints } from '../ports.js';
import { askEndpoint } from './handshake.js';

/** What verification attempts need. */
export interface VerificationDependencies {
  pending: PendingEndpoints;
  poster: HttpPoster;
  userAgent: string;
  publicUrl?: string | undefined;
}

/** How a verification stands after an attempt, and of which version of the endpoint that is known. */
export type VerificationReport =
  | { state: 'settled' }
  | { state: 'pending'; reason: string; verification_revision?: number };

/** The confirmation URL of an endpoint: it holds the token, as CloudEvents callbacks ask, and is told to the endpoint alone. */
function confirmationUrl(
  publicUrl: string | undefined,
  endpointId: string,
  token: string,
): string | undefined {
  if (!publicUrl) return undefined;
  const url = new URL(publicUrl);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${CURRENT_VERSION}/endpoint_verifications/${endpointId}`;
  url.searchParams.set('token', token);
  return url.href;
}

/** Makes one attempt to verify an endpoint, and takes the endpoint into service if it succeeds. */
export function createTryHandshake({ pending, poster, userAgent, publicUrl }: VerificationDependencies) {
  return async function tryHandshake(key: EndpointKey, timeoutMs: number): Promise<VerificationReport> {
    const endpoint = await pending.loadPending(key);
    if (!endpoint) return settle(pending, key);
    const result = await askEndpoint(endpoint, {
      poster,
      userAgent,
      confirmationUrl: confirmationUrl(publicUrl, endpoint.id, endpoint.verification_token),
      origin: publicUrl ? new URL(publicUrl).hostname : 'hookline',
      timeoutMs,
    });
    if (!result.wanted) {
      const { verification_revision } = endpoint;
      await pending.explain(key, result.reason, verification_revision);
      return { state: 'pending', reason: result.reason, verification_revision };
    }
    if (await pending.verified(key, endpoint, result.allowed_rate)) return settle(pending, key);
    return CHANGED;
  };
}

/** Takes an endpoint into service whose subscriber has called the confirmation URL, if it still is what was confirmed. */
export function createConfirmEndpoint({ pending }: Pick<VerificationDependencies, 'pending'>) {
  return async function confirmEndpoint(
    key: EndpointKey,
    allowedRate: number | undefined,
    subject: VerificationSubject,
  ): Promise<VerificationReport> {
    const verified = await pending.verified(key, subject, allowedRate);
    if (verified || !(await pending.loadPending(key))) return settle(pending, key);
    return CHANGED;
  };
}

/** Whoever changes a pending endpoint has it verified again, so this is not the end: the endpoint is asked once more. */
const CHANGED: VerificationReport = {
  state: 'pending',
  reason: 'It was changed while it was being verified.',
};

/** Done again after a crash, this releases what the crash has left parked. */
async function settle(pending: PendingEndpoints, key: EndpointKey): Promise<VerificationReport> {
  await pending.release(key);
  return { state: 'settled' };
}

/** Disables an endpoint that has not shown within the limit that it wants events, unless it has changed since it was asked last. */
export function createGiveUpEndpoint({ pending }: Pick<VerificationDependencies, 'pending'>) {
  return async function giveUpEndpoint(
    key: EndpointKey,
    reason: string,
    verificationRevision?: number,
  ): Promise<void> {
    await pending.giveUp(key, reason, verificationRevision);
  };
}
