import type { AccountRemoval } from '../src/domain/access/account-deletion.js';
import { createAccountActivities } from './account/delete-account.js';
import { type AlertSenders, createSendAlerts } from './alert/send-alerts.js';
import { createAttemptMembers } from './delivery/attempt-members.js';
import { type AttemptPorts, createAttemptActivities } from './delivery/attempts.js';
import { requestCancellation } from './delivery/caller.js';
import { createReleaseParkedDeliveries, type ReleasePorts } from './delivery/release-parked-deliveries.js';
import { createStartDeliveries, type FanOutPorts } from './delivery/start-deliveries.js';
import { createEndpointActivities, type IncidentPorts } from './endpoint/endpoint-incident.js';
import { createVerificationActivities, type VerificationPorts } from './endpoint/verify-endpoint.js';
import { createErasureActivities, type SubjectErasures } from './privacy/erase-subject.js';
import { createAppendToLog, type LogWrites } from './records/append-to-log.js';
import { createReadOutcome, type OutcomePorts } from './records/read-outcome.js';
import { createRecordTerminated, type TerminatedPorts } from './records/record-terminated.js';
import { createTellEnds } from './records/tell-ends.js';
import { createReplayActivities } from './replay/replay.js';
import type { ReplayLedger } from './replay/replay-ledger.js';
import type { ScheduledSender } from './scheduled-sender.js';
import { whileBeating } from './while-beating.js';

/** Dependencies of the activities; each file declares its own. */
export type ActivityDependencies = AttemptPorts &
  FanOutPorts &
  ReleasePorts &
  IncidentPorts &
  OutcomePorts &
  TerminatedPorts &
  VerificationPorts & {
    log: LogWrites;
    /** Channels to people that are configured. */
    alerts: AlertSenders;
    replays: ReplayLedger;
    erasures: SubjectErasures;
    accounts: AccountRemoval;
    /** Removes the payloads that are past their time. @returns how many */
    removePayloads(): Promise<number>;
    sendScheduled: ScheduledSender;
  };

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
    readOutcome: createReadOutcome(dependencies),
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

export type Activities = ReturnType<typeof createActivities>;
