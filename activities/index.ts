import { createIncidentActivities } from './endpoint-incident.js';
import type { FirstAttempts } from './first-attempts.js';
import type { DeliveryStarter, EndpointDirectory, HttpPoster, PendingEndpoints } from './ports.js';
import { createReleaseParkedDeliveries } from './release-parked-deliveries.js';
import { requestCancellation } from './request-cancellation.js';
import { createRetireSecrets } from './retire-secrets.js';
import { createStartDeliveries } from './start-deliveries.js';
import { createConfirmEndpoint, createGiveUpEndpoint, createTryHandshake } from './verify-endpoint.js';

/** What the activities stand on. */
export interface ActivityDependencies {
  endpoints: EndpointDirectory;
  pending: PendingEndpoints;
  poster: HttpPoster;
  firstAttempts: FirstAttempts;
  starter: DeliveryStarter;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** Where subscribers reach the API; absent where they do not. */
  publicUrl?: string | undefined;
}

/** All side effects of the workflows. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...dependencies.firstAttempts.activities,
    startDeliveries: createStartDeliveries(dependencies.starter),
    ...createIncidentActivities(dependencies),
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies.starter),
    requestCancellation,
    retireSecrets: createRetireSecrets(dependencies.endpoints),
    tryHandshake: createTryHandshake(dependencies),
    confirmEndpoint: createConfirmEndpoint(dependencies),
    giveUpEndpoint: createGiveUpEndpoint(dependencies),
  };
}

export type Activities = ReturnType<typeof createActivities>;
