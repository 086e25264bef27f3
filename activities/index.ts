import { createAttemptDelivery } from './attempt-delivery.js';
import { createAttemptGroup } from './attempt-group.js';
import type { DeliveryStarter, EndpointDirectory, HttpPoster } from './ports.js';
import { createReleaseParkedDeliveries } from './release-parked-deliveries.js';
import { requestCancellation } from './request-cancellation.js';
import { createStartDeliveries } from './start-deliveries.js';

/** What the activities stand on. */
export interface ActivityDependencies {
  endpoints: EndpointDirectory;
  poster: HttpPoster;
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
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies.starter),
    requestCancellation,
  };
}

export type Activities = ReturnType<typeof createActivities>;
