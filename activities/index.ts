import { createAccountActivities } from './account/delete-account.js';
import { createSendAlerts } from './alert/send-alerts.js';
import { createAppendToLog } from './archive/append-to-log.js';
import { createArchiveClosed, createSweepArchive } from './archive/archive-deliveries.js';
import { createAttemptMembers } from './delivery/attempt-members.js';
import { createAttemptActivities } from './delivery/attempts.js';
import { requestCancellation } from './delivery/caller.js';
import { createReleaseParkedDeliveries } from './delivery/release-parked-deliveries.js';
import { createStartDeliveries } from './delivery/start-deliveries.js';
import { createEndpointActivities } from './endpoint/endpoint-incident.js';
import { createVerificationActivities } from './endpoint/verify-endpoint.js';
import type { ActivityDependencies } from './ports.js';
import { createErasureActivities } from './privacy/erase-subject.js';
import { createReplayActivities } from './replay/replay.js';

/** All side effects of the workflows. Each takes what it needs from the dependencies. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...createAttemptActivities(dependencies),
    attemptMembers: createAttemptMembers(dependencies),
    startDeliveries: createStartDeliveries(dependencies),
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies),
    requestCancellation,
    ...createReplayActivities(dependencies),
    ...createEndpointActivities(dependencies),
    archiveClosed: createArchiveClosed(dependencies),
    sweepArchive: createSweepArchive(dependencies),
    appendToLog: createAppendToLog(dependencies),
    sendAlerts: createSendAlerts(dependencies),
    ...createErasureActivities(dependencies),
    ...createAccountActivities(dependencies),
    ...createVerificationActivities(dependencies),
  };
}

export type { ActivityDependencies };
export type Activities = ReturnType<typeof createActivities>;
