import { createAttemptDelivery } from './attempt-delivery.js';
import { createAttemptGroup } from './attempt-group.js';
import { createIncidentActivities } from './endpoint-incident.js';
import type { DeliveryStarter, EndpointDirectory, EndpointWatch, HttpPoster, IncidentLog } from './ports.js';
import { createReleaseParkedDeliveries } from './release-parked-deliveries.js';
import { requestCancellation } from './request-cancellation.js';
import { createStartDeliveries } from './start-deliveries.js';

/** What the activities stand on. */
export interface ActivityDependencies {
  endpoints: EndpointDirectory;
  poster: HttpPoster;
  health: EndpointWatch;
  incidents: IncidentLog;
  starter: DeliveryStarter;
  /** Sent as `User-Agent`. */
  userAgent: string;
}

/** All side effects of the workflows. */
export function createActivities(dependencies: ActivityDependencies) {
  const attemptDelivery = createAttemptDelivery(dependencies);
  return {
    attemptDelivery,
    attemptGroup: createAttemptGroup(attemptDelivery),
    startDeliveries: createStartDeliveries(dependencies.starter),
    // biome-ignore lint/nursery/noMisusedPromises: an object of functions, which the rule takes for a promise
    ...createIncidentActivities(dependencies),
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies.starter),
    requestCancellation,
  };
}

export type Activities = ReturnType<typeof createActivities>;
