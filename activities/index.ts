import { createAttemptMembers } from './delivery/attempt-members.js';
import type { FirstAttempts } from './delivery/first-attempts.js';
import { createReleaseParkedDeliveries } from './delivery/release-parked-deliveries.js';
import { requestCancellation } from './delivery/request-cancellation.js';
import { createStartDeliveries } from './delivery/start-deliveries.js';
import { createIncidentActivities } from './endpoint/endpoint-incident.js';
import { createRetireSecrets } from './endpoint/retire-secrets.js';
import {
  createConfirmEndpoint,
  createGiveUpEndpoint,
  createTryHandshake,
} from './endpoint/verify-endpoint.js';
import type { EndpointDirectory, HttpPoster, LedgerWriter, PendingEndpoints } from './ports.js';

/** What the activities stand on. */
export interface ActivityDependencies {
  endpoints: EndpointDirectory;
  pending: PendingEndpoints;
  poster: HttpPoster;
  firstAttempts: FirstAttempts;
  ledger: LedgerWriter;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** Where subscribers reach the API; absent where they do not. */
  publicUrl?: string | undefined;
}

/** All side effects of the workflows. */
export function createActivities(dependencies: ActivityDependencies) {
  const { activities } = dependencies.firstAttempts;
  return {
    ...activities,
    attemptMembers: createAttemptMembers(dependencies.ledger, activities.attemptDelivery),
    startDeliveries: createStartDeliveries(dependencies.ledger),
    ...createIncidentActivities(dependencies),
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies.ledger),
    requestCancellation,
    retireSecrets: createRetireSecrets(dependencies.endpoints),
    tryHandshake: createTryHandshake(dependencies),
    confirmEndpoint: createConfirmEndpoint(dependencies),
    giveUpEndpoint: createGiveUpEndpoint(dependencies),
  };
}

export type Activities = ReturnType<typeof createActivities>;
