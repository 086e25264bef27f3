import {
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { OpenIncident } from '../../src/domain/endpoint/breaker/incident.js';
import {
  IncidentMachine,
  type IncidentStep,
  newIncident,
} from '../../src/domain/endpoint/breaker/incident-machine.js';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import { handleInOrder, on } from '../in-order.js';
import type { EndpointIncidentInput, EndpointIncidentResult } from '../inputs.js';
import { attemptFailed, attemptSucceeded, endpointGone } from '../messages.js';
import { SHORT_STEP } from '../short-step.js';

const {
  markEndpoint,
  disableEndpoint,
  emitOperationalEvent,
  releaseEndpoint,
  probeEndpoint,
  /**
   * Not a local one: a signal that comes before the task has ended the workflow repeats the task, and its local
   * activities as other events.
   */
  closeIncident,
} = proxyActivities<Activities>({
  startToCloseTimeout: SHORT_STEP,
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** Many endpoints may begin to fail at once, so what every incident begins with must be cheap. */
const { openIncident } = proxyLocalActivities<Activities>({
  startToCloseTimeout: SHORT_STEP,
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/**
 * The period in which an endpoint is failing, from its first failure to its next success. Processes report what comes
 * of their attempts; {@link IncidentMachine} says what follows from it, and it is done here. Each transition is an
 * event that the account can subscribe to.
 */
export async function endpointIncident(input: EndpointIncidentInput): Promise<EndpointIncidentResult> {
  const { endpoint, failing_for_ms } = input;
  const { runId, startTime } = workflowInfo();
  // Events about the incident have the same id and time in each repetition of a task.
  const began = startTime.getTime();
  const since = new Date(began - failing_for_ms).toISOString();
  const state = input.state ?? newIncident(runId, since, startTime.toISOString());
  const incident = new IncidentMachine(input, state);
  // Around the local activity that opens it the clock of a replay is another one.
  let isOpen = state.announced;
  handleInOrder([
    on(attemptFailed, (report) => incident.failed(report, isOpen ? Date.now() : began)),
    on(attemptSucceeded, () => incident.succeeded()),
    on(endpointGone, (attempt, revision) => incident.answeredGone(attempt, revision)),
  ]);
  for (;;) {
    const step = incident.step(Date.now());
    switch (step.kind) {
      case 'open':
        incident.marked(await openIncident({ ...endpoint, failing: step.failing, event: step.event }));
        isOpen = true;
        break;
      case 'hold':
        incident.marked(await markEndpoint({ ...endpoint, failing: step.failing }));
        break;
      case 'probe': {
        const status = await markEndpoint({ ...endpoint, failing: step.failing });
        incident.marked(status);
        if (status === 'active') await probeEndpoint(endpoint);
        break;
      }
      case 'wait': {
        if (workflowInfo().continueAsNewSuggested)
          return continueAsNew<typeof endpointIncident>({ ...input, state: incident.state });
        show(incident.open);
        const summary = `failing since ${state.since}`;
        const wait = Math.max(step.until - Date.now(), 1);
        if (!(await condition(() => incident.hasReports, wait, { summary }))) incident.waited(step.until);
        break;
      }
      case 'close':
        await closeIncident({ ...endpoint, event: step.event, release: step.release });
        break;
      case 'release':
        await releaseEndpoint(endpoint);
        break;
      case 'disable':
        incident.disabled(await disable(endpoint, step));
        break;
      case 'unmark':
        await markEndpoint({ ...endpoint, failing: null });
        break;
      case 'ended':
        if (step.next) return continueAsNew<typeof endpointIncident>({ ...input, state: step.next });
        setCurrentDetails(step.outcome);
        return { outcome: step.outcome, ...incident.open };
    }
  }
}

/** @returns whether it was this that disabled the endpoint; then its account is notified */
async function disable(
  endpoint: EndpointKey,
  { reason, cause, event }: Extract<IncidentStep, { kind: 'disable' }>,
): Promise<boolean> {
  const didIt = await disableEndpoint({ ...endpoint, reason, ...cause });
  if (didIt) await emitOperationalEvent(event);
  return didIt;
}

/** Writes how the endpoint stands where the API and Temporal UI read it. */
function show(open: OpenIncident): void {
  upsertMemo({ incident: open });
  const probe = open.next_probe_at ? ` Next probe at ${open.next_probe_at}.` : '';
  setCurrentDetails(
    `Failing since ${open.since}: ${open.failures} failures, the last ${open.last_failure}.${probe} Disabled at ${open.disable_at} unless it succeeds.`,
  );
}
