import assert from 'node:assert/strict';
import type { Activities } from '../../activities/index.js';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import type { Outcome } from '../../src/domain/attempt/outcome.js';
import type { IncidentOutcome } from '../../src/domain/endpoint/breaker/incident.js';
import * as workflows from '../../workflows/index.js';
import * as messages from '../../workflows/messages.js';
import { endOf, HISTORIES, payloadsOf, type RecordedHistory, workflowTypeOf } from './histories.js';

/**
 * Elements that the histories must show. The keys are checked against the types of the code: who adds an activity, a
 * kind of report, an outcome or a reason has to add it here, and then a history of it.
 */
const ACTIVITIES = {
  actForReplay: true,
  appendToLog: true,
  attemptFirst: true,
  attemptMembers: true,
  attemptReleased: true,
  beginErasure: true,
  cancelOpenOfSubject: true,
  completeErasure: true,
  countOpenOfSubject: true,
  eraseSubjectKey: true,
  confirmEndpoint: true,
  disableEndpoint: true,
  closeIncident: true,
  emitOperationalEvent: true,
  endAccess: true,
  eraseAccountPayloads: true,
  endOpenDeliveries: true,
  endReplay: true,
  findForReplay: true,
  keepRows: true,
  readOutcome: true,
  recordTerminated: true,
  removePayloads: true,
  tellEnds: true,
  finishDeletion: true,
  giveUpEndpoint: true,
  markEndpoint: true,
  openIncident: true,
  probeEndpoint: true,
  releaseEndpoint: true,
  releaseParkedDeliveries: true,
  removeEndpoints: true,
  requestCancellation: true,
  retireSecrets: true,
  sendAlerts: true,
  sendScheduledEvent: true,
  startDeliveries: true,
  tryHandshake: true,
} satisfies Record<keyof Activities, true>;
const REPORTS = {
  attempted: true,
  deferred: true,
  erased: true,
  not_attempted: true,
  out_of_order: true,
} satisfies Record<AttemptReport['kind'], true>;
const OUTCOMES = { delivered: true, failed: true, gone: true, blocked: true } satisfies Record<Outcome, true>;
const NOT_ATTEMPTED = {
  pending: true,
  paused: true,
  disabled: true,
  deleted: true,
  failing: true,
  busy: true,
} satisfies Record<Extract<AttemptReport, { kind: 'not_attempted' }>['endpoint'], true>;
const INCIDENT_OUTCOMES = {
  recovered: true,
  disabled: true,
  lapsed: true,
  superseded: true,
} satisfies Record<IncidentOutcome, true>;

/** Host of an endpoint in the summary of an execution, by which people know it. */
const HOST = /→ [\w.:-]+/;

/** URLs that stubs have reported, or that a scenario has sent itself. */
const STUB = /https:\/\/(?:example\.com|elsewhere\.example)\//g;

/** Things that no history may have, by a pattern that shows them in a text. */
const PERSONAL = {
  'a URL': /:\/\//,
  'an address': /\b(?:\d{1,3}\.){3}\d{1,3}\b/,
  'an e-mail address': /[\w.+-]+@[\w-]+\.[a-z]{2}/,
  'a token of a business key': /"k:[\w-]{16}"/,
  'a payload': /customer_email|Notebook/,
  'what an endpoint answered': /"response_(?:snippet|headers|sha256)"/,
  'where a request came from, or why': /"(?:address|request_id)"|because of a scenario/,
};

describe('the recorded histories', () => {
  const events = HISTORIES.flatMap(({ history }) => history.events);
  const values = HISTORIES.flatMap(({ history }) => payloadsOf(history)).flatMap(everyObject);
  const reports = values.filter((value): value is AttemptReport => String(value['kind']) in REPORTS);

  const shows = (what: string, expected: object, found: Iterable<unknown>) => {
    const missing = Object.keys(expected).filter((name) => !new Set(found).has(name));
    assert.deepEqual(missing, [], `${what} that no history shows: record one`);
  };

  it('show every workflow type', () => {
    shows('workflow types', workflows, HISTORIES.map(workflowTypeOf));
  });

  it('show their workflows to the end', () => {
    const ends = ['COMPLETED', 'FAILED', 'CANCELED', 'CONTINUED_AS_NEW'];
    assert.deepEqual(
      HISTORIES.filter((one) => !ends.includes(endOf(one))).map(({ name }) => name),
      [],
    );
  });

  it('show every signal and update', () => {
    const all: Record<string, unknown> = { ...messages, ...messages.REPLAY_UPDATES };
    const names = Object.values(all).flatMap(messageName);
    for (const known of ['act', 'confirmed', 'pauseReplay']) assert.ok(names.includes(known), known);
    const found = events.flatMap((event) => [
      event.workflowExecutionSignaledEventAttributes?.signalName,
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest.input.name,
    ]);
    shows('messages', Object.fromEntries(names.map((name) => [name, true])), found);
  });

  it('show every activity', () => {
    const scheduled = events.map((event) => event.activityTaskScheduledEventAttributes?.activityType.name);
    const local = HISTORIES.flatMap(localActivities);
    shows('activities', ACTIVITIES, [...scheduled, ...local]);
  });

  it('show every kind of report of an attempt', () => {
    const attempted = reports.filter((report) => report.kind === 'attempted');
    const not = reports.filter((report) => report.kind === 'not_attempted');
    shows(
      'kinds of reports',
      REPORTS,
      reports.map(({ kind }) => kind),
    );
    shows(
      'outcomes',
      OUTCOMES,
      attempted.map(({ outcome }) => outcome),
    );
    shows(
      'states of an endpoint',
      NOT_ATTEMPTED,
      not.map(({ endpoint }) => endpoint),
    );
    assert.ok(
      attempted.some(({ attempt }) => attempt.error_code !== undefined),
      'an attempt without an answer',
    );
    assert.ok(
      attempted.some(({ retry_after_ms }) => retry_after_ms !== undefined),
      'a Retry-After',
    );
  });

  for (const [what, pattern] of Object.entries(PERSONAL))
    it(`hold no URL, address, payload or other thing of a person: not ${what}`, () => {
      for (const { name, history } of HISTORIES) {
        const payloads = payloadsOf(history).map((payload) => JSON.stringify(payload));
        for (const text of [JSON.stringify(history), ...payloads])
          assert.doesNotMatch(text.replace(HOST, '').replaceAll(STUB, ''), pattern, name);
      }
    });

  it('show every outcome of an incident', () => {
    const found = HISTORIES.filter((one) => workflowTypeOf(one) === 'endpointIncident')
      .flatMap(({ history }) => payloadsOf(history.events.at(-1)))
      .map((result) => (result as { outcome?: string }).outcome);
    shows('outcomes', INCIDENT_OUTCOMES, found);
  });
});

/** The name of a message, of what is exported beside the messages none. */
function messageName(exported: unknown): string[] {
  const { type, name } = (exported ?? {}) as { type?: string; name?: string };
  return name !== undefined && (type === 'signal' || type === 'update' || type === 'query') ? [name] : [];
}

/** Local activities leave a marker, whose data name them. */
function localActivities({ history }: RecordedHistory): string[] {
  return history.events
    .filter(({ markerRecordedEventAttributes: marker }) => marker?.markerName === 'core_local_activity')
    .flatMap((event) => payloadsOf(event).flatMap(everyObject))
    .map((data) => String(data['activity_type']));
}

/** A JSON value's objects, however deep. */
function everyObject(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(everyObject);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}
