import { createAccountActivities } from './account/delete-account.js';
import { createSendAlerts } from './alert/send-alerts.js';
import { createAttemptMembers } from './delivery/attempt-members.js';
import { createAttemptActivities } from './delivery/attempts.js';
import { requestCancellation } from './delivery/caller.js';
import { createReleaseParkedDeliveries } from './delivery/release-parked-deliveries.js';
import { createStartDeliveries } from './delivery/start-deliveries.js';
import { createEndpointActivities } from './endpoint/endpoint-incident.js';
import { createVerificationActivities } from './endpoint/verify-endpoint.js';
import type { ActivityDependencies } from './ports.js';
import { createErasureActivities } from './privacy/erase-subject.js';
import { createAppendToLog } from './records/append-to-log.js';
import { createRecordTerminated } from './records/record-terminated.js';
import { createTellEnds } from './records/tell-ends.js';
import { createReplayActivities } from './replay/replay.js';
import { whileBeating } from './while-beating.js';

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
    recordTerminated: createRecordTerminated(dependencies),
    tellEnds: createTellEnds(dependencies),
    /** Removes the payloads that are past their time. @returns how many */
    removePayloads: () => whileBeating(() => dependencies.removePayloads()),
    appendToLog: createAppendToLog(dependencies),
    sendAlerts: createSendAlerts(dependencies),
    ...createErasureActivities(dependencies),
    ...createAccountActivities(dependencies),
    ...createVerificationActivities(dependencies),
    /** Sends a scheduled event if it is due. */
    sendScheduledEvent: dependencies.sendScheduled,
  };
}

export type { ActivityDependencies };
export type Activities = ReturnType<typeof createActivities>;
