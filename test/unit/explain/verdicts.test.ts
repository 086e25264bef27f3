import assert from 'node:assert/strict';
import { type Cause, reasonOf } from '../../../src/domain/attempt/cause.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { Subscription } from '../../../src/domain/delivery/recipients.js';
import {
  type EndpointFacts,
  type EndpointThen,
  type ExplainedEvent,
  explainAbsence,
  explainStarting,
} from '../../../src/domain/explain/explain-absence.js';
import {
  type EndpointNow,
  type ExplainedDelivery,
  explainDelivery,
} from '../../../src/domain/explain/explain-delivery.js';
import { explainFailing } from '../../../src/domain/explain/failing-task.js';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();

describe('the verdict on a delivery that is not there', () => {
  const event: ExplainedEvent = {
    id: newId('event', NOW),
    kind: 'purchase',
    created_at: at(0),
    payload: { total: 12.5 },
  };
  const subscription: Subscription = {
    status: 'active',
    status_changed_at: at(-60_000),
    event_kinds: ['*'],
  };
  const existed = (more: Partial<Subscription> = {}): EndpointThen => ({
    state: 'existed',
    endpoint: { ...subscription, ...more },
  });
  const endpoint = (more: Partial<EndpointFacts> = {}): EndpointFacts => ({
    id: newId('endpoint', NOW - 60_000),
    atAcceptance: existed(),
    shortlyBefore: existed(),
    ...more,
  });
  const code = (facts: EndpointFacts, more: Partial<ExplainedEvent> = {}) =>
    explainAbsence({ ...event, ...more }, facts).code;

  it('names a change that the accepting process did not know of', () => {
    const shortlyBefore = existed({ filter: { path: '/total', at_least: 100 } });
    const verdict = explainAbsence(event, endpoint({ shortlyBefore }));
    assert.equal(verdict.code, 'changed_just_before');
    assert.match(verdict.summary, /: \/total at_least 100\.$/);
    assert.equal(verdict.clauses?.[0]?.found, 12.5);
    const isNew = { id: newId('endpoint', NOW - 40), shortlyBefore: { state: 'absent' } } as const;
    const { code, summary } = explainAbsence({ ...event, created_at: at(-30) }, endpoint(isNew));
    assert.equal(code, 'changed_just_before');
    assert.match(summary, /As it was before: It was not there\. It was registered at 2026-/);
  });

  it('names a test of another endpoint, whatever its kind', () => {
    assert.equal(code(endpoint(), { is_test: true }), 'test_of_another_endpoint');
    assert.equal(code(endpoint(), { kind: 'endpoint.test' }), 'test_of_another_endpoint');
  });

  it('names that the event was sent to named endpoints only', () => {
    const facts = endpoint();
    assert.equal(code(facts, { named_endpoints: ['ep_1'] }), 'not_named');
    assert.notEqual(code(facts, { named_endpoints: ['ep_1', facts.id] }), 'not_named');
  });

  it('names a delivery that is still to be started, or that is not kept', () => {
    assert.match(explainStarting({ started: 600, total: 5_000 }).summary, /600 of 5000 so far/);
    assert.equal(code(endpoint({ shortlyBefore: { state: 'absent' } })), 'changed_just_before');
    assert.equal(code(endpoint()), 'not_found');
    assert.equal(code(endpoint({ atAcceptance: { state: 'not_kept' } })), 'not_kept');
  });

  it('says who deleted the endpoint, if that is kept', () => {
    const absent: Partial<EndpointFacts> = {
      atAcceptance: { state: 'absent' },
      shortlyBefore: { state: 'absent' },
    };
    const verdict = explainAbsence(event, endpoint({ ...absent, deleted: { at: at(-1_000), by: 'key_1' } }));
    assert.deepEqual([verdict.code, verdict.since, verdict.by], ['deleted_before', at(-1_000), 'key_1']);
    assert.equal(code(endpoint(absent)), 'deleted_before');
    assert.equal(code(endpoint({ ...absent, id: newId('endpoint', NOW + 1_000) })), 'registered_later');
  });

  it('is about operational kinds, too: * does not include them', () => {
    assert.equal(code(endpoint(), { kind: 'endpoint.failing' }), 'kind_not_registered');
  });
});

describe('the verdict on a delivery', () => {
  const active: EndpointNow = { status: 'active', status_changed_at: at(-1_000) };
  const incident = {
    since: at(-60),
    failures: 12,
    last_failure: 'got a 500 response',
    last_failure_at: at(-5),
    next_probe_at: at(5),
    disable_at: at(86_400),
  };
  const attempt = {
    number: 1,
    at: at(-5_000),
    duration_ms: 20,
    status_code: 500,
    trigger: 'schedule' as const,
  };
  const code = (delivery: Partial<ExplainedDelivery>, endpoint: EndpointNow | undefined = active) =>
    explainDelivery({ status: 'parked', attempts: [], ...delivery }, endpoint, undefined, NOW).code;

  it('knows an attempt in flight from one that is due later', () => {
    assert.equal(code({ status: 'delivering' }), 'in_flight');
    const retrying = { status: 'retrying' as const, attempts: [attempt] };
    assert.equal(code({ ...retrying, next_attempt_at: at(-10) }), 'in_flight');
    assert.equal(code({ ...retrying, next_attempt_at: at(10) }), 'retrying');
    assert.equal(
      code({ ...retrying, cause: { code: 'resumed', by: 'key_1' }, next_attempt_at: at(10) }),
      'retrying',
    );
  });

  it('knows what a parked delivery waits for now, whatever parked it', () => {
    const cause: Cause = { code: 'endpoint', status: 'paused' };
    assert.equal(code({ cause }, { ...active, status: 'paused' }), 'endpoint_paused');
    assert.equal(code({ cause }, { ...active, status: 'disabled' }), 'endpoint_disabled');
    assert.equal(code({ cause }), 'release_pending');
    assert.equal(
      explainDelivery({ status: 'parked', attempts: [], cause }, undefined, undefined, NOW).code,
      'release_pending',
    );
    assert.equal(code({ cause: { code: 'endpoint', status: 'failing' } }), 'release_pending');
    assert.equal(
      code({ cause: { code: 'endpoint', status: 'failing' } }, { ...active, status: 'paused' }),
      'endpoint_paused',
    );
    const busy: Cause = { code: 'endpoint', status: 'busy', in_flight: 64 };
    assert.equal(code({ cause: busy }), 'waits_its_turn');
    assert.equal(code({ cause: busy }, { ...active, incident }), 'endpoint_failing');
    assert.equal(code({ cause: busy }, { ...active, status: 'paused' }), 'endpoint_paused');
  });

  it('names what the endpoint has of its own, where that is the cause', () => {
    const summary = (delivery: Partial<ExplainedDelivery>, endpoint = active) =>
      explainDelivery({ status: 'parked', attempts: [], ...delivery }, endpoint, undefined, NOW).summary;
    const refused = { ...attempt, status_code: 415, format: 'cloudevents_binary' as const };
    for (const status of ['retrying', 'exhausted'] as const)
      assert.match(
        summary({ status, attempts: [refused], next_attempt_at: at(10) }),
        / It was sent in the form cloudevents_binary \(payload_format\)\.$/,
      );
    assert.doesNotMatch(
      summary({ status: 'retrying', attempts: [attempt], next_attempt_at: at(10) }),
      /form/,
    );
    // Nothing was sent to the endpoint, so it is not said to answer.
    const last_failure = 'failed: no access token could be fetched from the token URL: it answered 401';
    const failing = summary(
      { cause: { code: 'endpoint', status: 'failing' } },
      { ...active, incident: { ...incident, last_failure } },
    );
    assert.match(failing, /: the last attempt failed: no access token .* answered 401, at /);
    assert.match(failing, /The delivery waits until an attempt succeeds/);
    // While Temporal is away.
    const { since } = incident;
    assert.equal(
      summary({ cause: { code: 'endpoint', status: 'failing' } }, { ...active, incident: { since } }),
      `The endpoint has been failing since ${since}. The delivery waits until an attempt succeeds.`,
    );
    // An order of all events of an endpoint has no key.
    const first = { number: 1, event_id: newId('event', NOW) };
    const cause: Cause = { code: 'order', number: 3, first };
    assert.equal(
      reasonOf({ cause }),
      `Number 3 of its order waits for number 1 (${first.event_id}), which is not delivered yet.`,
    );
  });

  it('says that nothing comes of what an open delivery waits for while its workflow task fails, or its event is altered', () => {
    const failing_task = { failures: 12, since: at(-60_000) };
    const event_altered = 'evt_1 has no payload any more';
    const open: [Partial<ExplainedDelivery>, EndpointNow?][] = [
      [{ status: 'delivering' }],
      [{ status: 'retrying', attempts: [attempt], next_attempt_at: at(10) }],
      [{ status: 'retrying', attempts: [attempt], next_attempt_at: at(10), asked_to_wait: true }],
      [
        {
          status: 'retrying',
          attempts: [attempt],
          next_attempt_at: at(10),
          cause: { code: 'deferred', per_second: 1 },
        },
      ],
      [{ cause: { code: 'paused', by: 'key_1' } }],
      [{ cause: { code: 'endpoint', status: 'paused' } }],
      [{ cause: { code: 'endpoint', status: 'paused' } }, { ...active, status: 'paused' }],
      [{ cause: { code: 'endpoint', status: 'failing' } }, { ...active, incident }],
    ];
    for (const [delivery, endpoint] of open) {
      assert.notEqual(code(delivery, endpoint), 'workflow_failing');
      assert.equal(code({ ...delivery, failing_task }, endpoint), 'workflow_failing');
      assert.equal(code({ ...delivery, event_altered }, endpoint), 'event_altered');
    }
    for (const status of ['delivered', 'exhausted', 'expired', 'cancelled', 'terminated'] as const)
      assert.equal(code({ status, failing_task, event_altered }), code({ status }));
    const { summary, since, ...verdict } = explainFailing(failing_task, 'delivery');
    assert.deepEqual([since, verdict], [at(-60_000), { code: 'workflow_failing' }]);
    assert.match(summary, /has failed since 2026-11-21T11:59:00.000Z, at least 12 times\. The operator/);
  });

  it('does not take a worker that was killed for code that cannot go on', () => {
    const codes = [1, 2].map((failures) =>
      code({ status: 'delivering', failing_task: { failures, since: at(-1) } }),
    );
    assert.deepEqual(codes, ['in_flight', 'workflow_failing']);
  });

  it('says who ended it, or that nobody is known', () => {
    const by = { at: at(-100), by: 'key_1' };
    assert.equal(code({ status: 'expired', reason: 'Parked for 7d, the limit.' }), 'expired');
    assert.equal(code({ status: 'cancelled', interventions: [{ action: 'cancel', ...by }] }), 'cancelled');
    const erased = { action: 'cancel' as const, ...by, by: newId('erasure') };
    assert.equal(code({ status: 'cancelled', interventions: [erased] }), 'subject_erased');
    assert.equal(code({ status: 'cancelled', cause: { code: 'endpoint_deleted' } }), 'endpoint_deleted');
    const terminated = explainDelivery(
      { status: 'terminated', attempts: [], interventions: [{ action: 'terminate', ...by }] },
      active,
      undefined,
      NOW,
    );
    assert.deepEqual([terminated.code, terminated.by], ['terminated', 'key_1']);
  });
});
