import { randomBytes } from 'node:crypto';
import type { DisablingAttempt, EndpointDirectory } from '../../../activities/endpoint/endpoint-directory.js';
import type { PendingEndpoints } from '../../../activities/endpoint/verify-endpoint.js';
import { deliveryId, parseAttemptName } from '../../domain/basics/delivery-id.js';
import { type Origin, subscriberOrigin, systemOrigin } from '../../domain/change/change.js';
import { recipientsOf } from '../../domain/delivery/recipients.js';
import { GONE } from '../../domain/endpoint/endpoint.js';
import type { Database } from '../../models/database.js';
import type { StoredEndpoint } from '../../models/endpoint/endpoint-document.js';
import type { EndpointRepository } from '../../models/endpoint/endpoints.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';

const TOKEN_BYTES = 24;

/** Endpoints as activities need them, on the repository that has them. */
export function endpointDirectory(endpoints: EndpointRepository): EndpointDirectory {
  const forAttempt = (endpoint: StoredEndpoint | undefined) =>
    endpoint && { ...endpoint, ...rateLimitOf(endpoint), secrets: () => endpoints.secretsOf(endpoint) };
  return {
    load: async (...key) => forAttempt(await endpoints.get(...key)),
    loadFresh: async (...key) => forAttempt(await endpoints.getFresh(...key)),
    disable(accountId, endpointId, reason, cause, verificationRevision, attempt) {
      const by = disabledBy(reason, endpointId, attempt);
      return endpoints.disable(accountId, endpointId, reason, cause, by, verificationRevision);
    },
    setFailing: (...args) => endpoints.setFailing(...args),
    watchers: async (accountId, kind, payload) =>
      recipientsOf(await endpoints.watchersOf(accountId), kind, payload),
    isWatched: async (accountId, kind) =>
      (await endpoints.watchersOf(accountId)).some(({ event_kinds }) => event_kinds.includes(kind)),
    retireSecrets: (accountId, endpointId) =>
      endpoints.retireSecrets(accountId, endpointId, systemOrigin('rotation')),
  };
}

/** Author of an endpoint's disabling: its subscriber, who responded 410, or an incident that lasted too long. */
function disabledBy(
  reason: string,
  endpoint_id: string,
  { name = '', address }: Partial<DisablingAttempt> = {},
): Origin {
  const attempt = parseAttemptName(name);
  const from = {
    ...(address !== undefined && { address }),
    ...(attempt && {
      caused_by: {
        delivery_id: deliveryId({ event_id: attempt.event_id, endpoint_id }),
        attempt: attempt.number,
      },
    }),
  };
  return reason === GONE ? subscriberOrigin(from) : { ...systemOrigin('incident'), ...from };
}

/** Endpoints as verification needs them. */
export function pendingEndpoints(
  { endpoints, privateInputs }: Pick<Database, 'endpoints' | 'privateInputs'>,
  starter: DeliveryStarter,
): PendingEndpoints {
  return {
    async loadPending({ account_id, endpoint_id }) {
      const endpoint = await endpoints.getFresh(account_id, endpoint_id);
      if (endpoint?.status !== 'pending') return undefined;
      const secrets = endpoints.secretsOf(endpoint);
      if (secrets.verification_token)
        return { ...endpoint, ...secrets, verification_token: secrets.verification_token };
      const verification_token = randomBytes(TOKEN_BYTES).toString('base64url');
      await endpoints.beginVerification(account_id, endpoint_id, verification_token);
      return { ...endpoint, ...secrets, verification_token };
    },
    async verified({ account_id, endpoint_id }, { verification_revision, from }, allowedRate) {
      const request = await privateInputs.fromOf(from);
      for (;;) {
        const endpoint = await endpoints.getFresh(account_id, endpoint_id);
        const isSubject = endpoint?.verification_revision === verification_revision;
        if (!isSubject || endpoint.status !== 'pending') return false;
        // Nothing is written if its owner has changed it in between: it is read again.
        if (await endpoints.verified(endpoint, allowedRate, request)) return true;
      }
    },
    async release({ account_id, endpoint_id }) {
      const endpoint = await endpoints.getFresh(account_id, endpoint_id);
      if (endpoint?.status === 'active') await starter.release({ account_id, endpoint_id });
    },
    explain: ({ account_id, endpoint_id }, ...rest) =>
      endpoints.explainPending(account_id, endpoint_id, ...rest),
    giveUp: ({ account_id, endpoint_id }, ...rest) =>
      endpoints.verificationFailed(account_id, endpoint_id, ...rest),
  };
}

/**
 * Rate limit of an endpoint, per minute, by its owner and by its subscriber's CloudEvents verification: the lower one
 * holds.
 */
function rateLimitOf({ rate_limit, allowed_rate }: StoredEndpoint): { rate_limit?: number } {
  const rate = Math.min(
    rate_limit ?? Number.POSITIVE_INFINITY,
    (allowed_rate ?? Number.POSITIVE_INFINITY) / 60,
  );
  return Number.isFinite(rate) ? { rate_limit: rate } : {};
}
