import { createAccountActivities } from './account/delete-account.js';
import { createSendAlerts } from './alert/send-alerts.js';
import { createAppendToLog } from './archive/append-to-log.js';
import { createArchiveClosed, createSweepArchive } from './archive/archive-deliveries.js';
import { createAttemptMembers } from './delivery/attempt-members.js';
import { createAttemptActivities } from './delivery/attempts.js';
import { createReleaseParkedDeliveries } from './delivery/release-parked-deliveries.js';
import { requestCancellation } from './delivery/request-cancellation.js';
import { createStartDeliveries } from './delivery/start-deliveries.js';
import { createIncidentActivities } from './endpoint/endpoint-incident.js';
import { createRetireSecrets } from './endpoint/retire-secrets.js';
import {
  createConfirmEndpoint,
  createGiveUpEndpoint,
  createVerificationAttempt,
} from './endpoint/verify-endpoint.js';
import type { ActivityDependencies } from './ports.js';
import { createErasureActivities } from './privacy/erase-subject.js';
import { createActForReplay, createFindForReplay } from './replay/replay.js';

/** All side effects of the workflows. Each takes what it needs from the dependencies. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...createAttemptActivities(dependencies),
    attemptMembers: createAttemptMembers(dependencies),
    startDeliveries: createStartDeliveries(dependencies),
    releaseParkedDeliveries: createReleaseParkedDeliveries(dependencies),
    requestCancellation,
    findForReplay: createFindForReplay(dependencies),
    actForReplay: createActForReplay(dependencies),
    ...createIncidentActivities(dependencies),
    archiveClosed: createArchiveClosed(dependencies),
    sweepArchive: createSweepArchive(dependencies),
    appendToLog: createAppendToLog(dependencies),
    sendAlerts: createSendAlerts(dependencies),
    ...createErasureActivities(dependencies),
    ...createAccountActivities(dependencies),
    retireSecrets: createRetireSecrets(dependencies),
    tryHandshake: createVerificationAttempt(dependencies),
    confirmEndpoint: createConfirmEndpoint(dependencies),
    giveUpEndpoint: createGiveUpEndpoint(dependencies),
  };
}

export type { ActivityDependencies };
export type Activities = ReturnType<typeof createActivities>;
