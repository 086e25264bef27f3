import type { VerificationSubject } from '../../src/domain/endpoint/endpoint.js';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import { apiUrl } from '../../src/domain/http/versions.js';
import { createAuthorizedExchange } from '../delivery/authorization/authorized-exchange.js';
import type { HttpPoster } from '../http/exchange.js';
import type { EndpointForVerification } from './ask-endpoint.js';
import { askEndpoint } from './ask-endpoint.js';

/** The endpoints that have not been verified yet. */
export interface PendingEndpoints {
  /** The endpoint, with a token; `undefined` if it was deleted or is not pending any more. */
  loadPending(endpoint: EndpointKey): Promise<EndpointForVerification | undefined>;
  /**
   * Takes it into service, unless it has changed since it was verified.
   *
   * @param subject what was verified
   * @returns whether it was taken into service
   */
  verified(
    endpoint: EndpointKey,
    subject: VerificationSubject,
    allowedRate: number | undefined,
  ): Promise<boolean>;
  /** Releases the deliveries that were parked while it was being verified, if it is active now. */
  release(endpoint: EndpointKey): Promise<void>;
  /** Records why it is still pending, unless it has changed since that version was asked. */
  explain(endpoint: EndpointKey, reason: string, verificationRevision: number): Promise<void>;
  /** Disables it, unless it has changed since that version was asked. */
  giveUp(endpoint: EndpointKey, reason: string, verificationRevision: number | undefined): Promise<void>;
}

/** Dependencies of verifications. */
export interface VerificationPorts {
  pending: PendingEndpoints;
  poster: HttpPoster;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** The address of the API as subscribers see it; absent if they cannot reach it. */
  publicUrl?: string | undefined;
}

/** The state of a verification after an attempt, and the version of the endpoint that it is about. */
export type VerificationReport =
  | { state: 'settled' }
  | { state: 'pending'; reason: string; verification_revision?: number };

/** The confirmation URL of an endpoint. It contains the token, as in CloudEvents, and is sent to the endpoint alone. */
function confirmationUrl(
  publicUrl: string | undefined,
  endpointId: string,
  token: string,
): string | undefined {
  if (!publicUrl) return undefined;
  const url = new URL(apiUrl(publicUrl, `/endpoint_verifications/${endpointId}`));
  url.searchParams.set('token', token);
  return url.href;
}

/**
 * A change of a pending endpoint starts its verification again, so this is not the end: the endpoint is asked once
 * more.
 */
const CHANGED: VerificationReport = {
  state: 'pending',
  reason: 'It was changed while it was being verified.',
};

/** Repeated after a crash, this releases the deliveries that the crash left parked. */
async function settle(pending: PendingEndpoints, key: EndpointKey): Promise<VerificationReport> {
  await pending.release(key);
  return { state: 'settled' };
}

/** The steps of a verification. */
export function createVerificationActivities({ pending, poster, userAgent, publicUrl }: VerificationPorts) {
  const exchangeAs = createAuthorizedExchange(poster);
  return {
    /** Makes one attempt to verify an endpoint, and takes the endpoint into service if it succeeds. */
    async tryHandshake(key: EndpointKey, timeoutMs: number): Promise<VerificationReport> {
      const endpoint = await pending.loadPending(key);
      if (!endpoint) return await settle(pending, key);
      const result = await askEndpoint(endpoint, {
        exchangeAs,
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
      const verified = await pending.verified(key, endpoint, result.allowed_rate);
      return verified ? await settle(pending, key) : CHANGED;
    },

    /**
     * Takes an endpoint into service after a call of its confirmation URL, unless it has changed since it was asked.
     */
    async confirmEndpoint(
      key: EndpointKey,
      allowedRate: number | undefined,
      subject: VerificationSubject,
    ): Promise<VerificationReport> {
      const verified = await pending.verified(key, subject, allowedRate);
      return verified || !(await pending.loadPending(key)) ? await settle(pending, key) : CHANGED;
    },

    /**
     * Disables an endpoint that was not verified in time, unless it has changed since it was asked last.
     *
     * @returns whether it has changed, so that it is still to be verified: the process that changed it may have crashed
     * before it reported that
     */
    async giveUpEndpoint(
      key: EndpointKey,
      reason: string,
      verificationRevision?: number,
    ): Promise<VerificationReport['state']> {
      await pending.giveUp(key, reason, verificationRevision);
      return (await pending.loadPending(key)) ? 'pending' : 'settled';
    },
  };
}
