import { createAttemptDelivery } from './attempt-delivery.js';
import { createAttemptGroup } from './attempt-group.js';
import { createIncidentActivities } from './endpoint-incident.js';
import type {
  DeliveryStarter,
  DeliveryTurns,
  EndpointDirectory,
  EndpointWatch,
  HttpPoster,
  IncidentLog,
  PendingEndpoints,
} from './ports.js';
import { createReleaseParkedDeliveries } from './release-parked-deliveries.js';
import { requestCancellation } from './request-cancellation.js';
import { createRetireSecrets } from './retire-secrets.js';
import { createStartDeliveries } from './start-deliveries.js';
import { createConfirmEndpoint, createGiveUpEndpoint, createTryHandshake } from './verify-endpoint.js';

/** What the activities stand on. */
export interface ActivityDependencies {
  endpoints: EndpointDirectory;
  turns: DeliveryTurns;
  pending: PendingEndpoints;
  poster: HttpPoster;
  health: EndpointWatch;
  incidents: IncidentLog;
  starter: DeliveryStarter;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** Where subscribers reach the API; absent where they do not. */
  publicUrl?: string | undefined;
}

/** All side effects of the workflows. */
export function createActivities(dependencies: ActivityDependencies) {
  const attemptDelivery = createAttemptDelivery(dependencies);
  return {
    attemptDelivery,
    attemptGroup: createAttemptGroup(attemptDelivery),
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
