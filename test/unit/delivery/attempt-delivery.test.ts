import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptDependencies } from '../../../activities/delivery/attempt-delivery.js';
import { createAttemptDelivery } from '../../../activities/delivery/attempt-delivery.js';
import type { HttpAnswer, HttpExchange } from '../../../activities/http/exchange.js';
import { reasonOf, waitCause } from '../../../src/domain/attempt/cause.js';
import { attemptRequest } from '../../../src/domain/delivery/attempt-request.js';
import type { FailingMark } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { SLOTS } from '../../../src/domain/endpoint/breaker/endpoint-condition.js';
import { EndpointConditions } from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import type { EndpointKey } from '../../../src/domain/endpoint/endpoint-key.js';
import { RecordAlteredError } from '../../../src/domain/records/record-altered.js';
import { TIMINGS } from '../../../src/domain/timings.js';

const SLOW_MS = 2_000;
const VERIFICATION_REVISION = 7;
const TOKEN = `token-${'t'.repeat(30)}`;
const EVENT = {
  account_id: 'acct_1',
  event_id: 'evt_1',
  event_kind: 'purchase',
  payload: '{}',
  accepted_at: '2026-01-31T12:00:00.000Z',
};
const FIRST = attemptRequest(
  { event: EVENT, endpoint_id: 'ep_1', attempt: { index: 0, number: 1, trigger: 'schedule' } },
  5_000,
);
const EMPTY_ANSWER = {
  statusCode: 200,
  headers: {},
  body: '',
  bodyBytes: 0,
  isCut: false,
  trace: { timings: {} },
};
const failing = () => Promise.reject(new Error('the server cannot be reached'));

/** Attempts at an endpoint that sends `authorization` along; `exchange` answers them. */
function attempts(
  answer: Partial<HttpAnswer> | (() => Promise<HttpExchange>),
  more: {
    incidents?: object;
    endpoints?: object;
    leases?: object;
    release?: object;
    turns?: object;
    failing?: FailingMark;
    options?: object;
    payload?: () => Promise<string>;
    observer?: object;
  } = {},
) {
  const posted: unknown[] = [];
  const exchange = async (request: unknown): Promise<HttpExchange> => {
    posted.push(request);
    if (typeof answer === 'function') return answer();
    return { ...EMPTY_ANSWER, ...answer };
  };
  const incidents = {
    failed: async () => {},
    succeeded: async () => false,
    gone: async () => {},
    ...more.incidents,
  };
  const endpoints = {
    load: async () => ({
      version: 1,
      target_url: 'https://subscriber.example/hook',
      verification_revision: VERIFICATION_REVISION,
      status: 'active',
      failing: more.failing,
      ...more.options,
      secrets: () => ({ headers: { authorization: TOKEN }, signing_keys: [], options: {} }),
    }),
    setFailing: async () => {},
    disable: async () => 'disabled',
    ...more.endpoints,
  };
  const attempt = createAttemptDelivery({
    payloads: { of: more.payload ?? (async () => EVENT.payload) },
    observer: more.observer,
    poster: { exchange },
    incidents,
    endpoints,
    release: more.release,
    turns: { take: async () => Date.now(), ...more.turns },
    leases: { take: async () => undefined, ...more.leases },
    conditions: new EndpointConditions({
      slowMs: SLOW_MS,
      timings: TIMINGS,
      maxDirect: 1_000,
    }),
    userAgent: 'Hookline/test',
  } as unknown as AttemptDependencies);
  return { attempt, posted };
}

describe('an attempt', () => {
  it('is none if the event was altered, of which its observer is told', async () => {
    const told: unknown[] = [];
    const altered = new RecordAlteredError('evt_1', 'is not what was written');
    const observer = { altered: (error: Error) => told.push(error), attempted() {} };
    const payload = async () => Promise.reject(altered);
    const { attempt, posted } = attempts({ statusCode: 200 }, { payload, observer });
    await assert.rejects(attempt(FIRST), altered);
    assert.deepEqual([told, posted.length], [[altered], 0]);
  });

  describe('that is answered 410', () => {
    const gone = { statusCode: 410 };

    it('disables the endpoint if either the incident or the database can be reached', async () => {
      for (const more of [{ incidents: { gone: failing } }, { endpoints: { disable: failing } }]) {
        const report = await attempts(gone, more).attempt(FIRST);
        assert.ok(report.kind === 'attempted');
        assert.equal(report.outcome, 'gone');
      }
    });

    it('goes on by its schedule if the endpoint has another URL by now', async () => {
      const asked: unknown[] = [];
      const changed = async (...args: unknown[]) => {
        asked.push(args.slice(-2));
        return 'changed';
      };
      const report = await attempts(gone, { endpoints: { disable: changed } }).attempt(FIRST);
      assert.ok(report.kind === 'attempted');
      assert.equal(report.outcome, 'failed');
      const because = { name: `${FIRST.event_id}:1`, address: undefined };
      assert.deepEqual(asked, [[VERIFICATION_REVISION, because]]);
    });

    it('is not repeated if neither can be reached: the delivery goes on by its schedule', async () => {
      const neither = { incidents: { gone: failing }, endpoints: { disable: failing } };
      const { attempt, posted } = attempts(gone, neither);
      const report = await attempt(FIRST);
      assert.ok(report.kind === 'attempted');
      assert.equal(report.outcome, 'failed');
      assert.equal(report.attempt.status_code, 410);
      assert.equal(posted.length, 1);
    });
  });

  it('is reported even if its endpoint’s incident cannot be reached', async () => {
    const { attempt } = attempts({ statusCode: 500 }, { incidents: { failed: failing } });
    const report = await attempt(FIRST);
    assert.ok(report.kind === 'attempted');
    assert.equal(report.outcome, 'failed');
  });

  it('is reported at once, though its endpoint’s incident takes long to hear of it', async () => {
    const never = () => new Promise(() => {});
    const incidents = { failed: never, succeeded: never };
    for (const [statusCode, outcome] of [
      [500, 'failed'],
      [200, 'delivered'],
    ] as const) {
      const report = await attempts({ statusCode }, { incidents }).attempt({ ...FIRST, number: 2 });
      assert.ok(report.kind === 'attempted');
      assert.equal(report.outcome, outcome);
    }
  });

  it('keeps no part of a secret, wherever the answer is cut', async () => {
    const firstHalf = TOKEN.slice(0, TOKEN.length / 2);
    let before = 0;
    const { attempt } = attempts(async () => ({
      ...EMPTY_ANSWER,
      body: `${'x'.repeat(before)}${TOKEN}`,
      headers: { server: `${'x'.repeat(before % 300)}${TOKEN}` },
    }));
    for (; before < 1_100; before += 1) {
      const report = JSON.stringify(await attempt(FIRST));
      assert.ok(!report.includes(firstHalf), `after ${before} characters`);
    }
    const cut = attempts({ body: TOKEN.repeat(100).slice(0, -TOKEN.length / 2), isCut: true });
    assert.ok(!JSON.stringify(await cut.attempt(FIRST)).includes(firstHalf));
  });

  it('is not made if the endpoint keeps failing, unless a person or a release asks for it', async () => {
    const failing = {
      since: '2026-11-24T12:00:00.000Z',
      backoff_until: new Date(Date.now() + 5_000).toISOString(),
    };
    const { attempt, posted } = attempts({ statusCode: 200 }, { failing });
    const report = await attempt(FIRST);
    assert.ok(report.kind === 'not_attempted');
    assert.equal(report.endpoint, 'failing');
    assert.equal(report.since, failing.since);
    assert.equal((await attempt({ ...FIRST, placed: true })).kind, 'not_attempted');
    assert.equal(posted.length, 0);
    for (const trigger of ['manual', 'released', 'probe'] as const)
      assert.equal((await attempt({ ...FIRST, trigger, isolated: true })).kind, 'attempted');
  });

  describe('that is a probe', () => {
    const PROBE = { ...FIRST, trigger: 'probe', isolated: true } as const;

    it('waits for its turn, unless that comes much later', async () => {
      const options = { rate_limit: 1 };
      const within: unknown[] = [];
      const taking = (inMs: number) => ({
        take: async (...asked: unknown[]) => {
          within.push(asked[2]);
          return Date.now() + inMs;
        },
      });
      const soon = attempts({}, { options, turns: taking(150) });
      assert.equal((await soon.attempt({ ...FIRST, isolated: true })).kind, 'deferred');
      assert.equal((await soon.attempt(PROBE)).kind, 'attempted');
      assert.equal(soon.posted.length, 1);
      assert.equal((await attempts({}, { options, turns: taking(60_000) }).attempt(PROBE)).kind, 'deferred');
      // It takes no turn that it would not wait for.
      assert.deepEqual([within[0], ...new Set(within.slice(1))], [undefined, 2_000]);
    });
  });

  it('that succeeds takes away the mark that the endpoint fails, unless an open incident is to do that', async () => {
    const failing = { since: '2026-11-24T12:00:00.000Z' };
    for (const [statusCode, isOpen, expected] of [
      [200, false, [null]],
      [200, true, []],
      [500, false, []],
    ] as const) {
      const marks: unknown[] = [];
      const setFailing = async (...[, , mark]: unknown[]) => void marks.push(mark);
      const more = { failing, incidents: { succeeded: async () => isOpen }, endpoints: { setFailing } };
      await attempts({ statusCode }, more).attempt({ ...FIRST, isolated: true });
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(marks, expected, `${statusCode}, ${isOpen}`);
    }
  });

  it('that takes away a mark because of which deliveries waited has them released', async () => {
    const few = { since: '2026-11-24T12:00:00.000Z' };
    const many = { ...few, backoff_until: '2026-11-24T12:00:05.000Z' };
    for (const [removed, expected] of [
      [undefined, []],
      [few, []],
      [many, ['ep_1']],
    ] as const) {
      const releases: string[] = [];
      const release = async ({ endpoint_id }: EndpointKey) => void releases.push(endpoint_id);
      const more = { failing: few, release, endpoints: { setFailing: async () => removed } };
      await attempts({ statusCode: 200 }, more).attempt({ ...FIRST, isolated: true });
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(releases, expected);
    }
  });

  it('is made in the isolated lane if the endpoint is failing, also if whoever placed it did not know that', async () => {
    const { attempt } = attempts({ statusCode: 200 }, { failing: { since: '2026-11-24T12:00:00.000Z' } });
    await assert.rejects(attempt(FIRST), /isolated lane/);
    assert.equal((await attempt({ ...FIRST, isolated: true })).kind, 'attempted');
    await assert.rejects(attempt({ ...FIRST, placed: true }), /isolated lane/);
  });

  it('is made in the direct lane if it has just been placed there, whatever this process has seen since', async () => {
    const { attempt } = attempts({ statusCode: 500 });
    await attempt(FIRST);
    await assert.rejects(attempt(FIRST), /isolated lane/);
    assert.equal((await attempt({ ...FIRST, placed: true })).kind, 'attempted');
  });

  it('waits if too many are in flight at the endpoint, which is not charged for the wait', async () => {
    let answer = () => {};
    const { attempt, posted } = attempts(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(EMPTY_ANSWER);
        }),
    );
    const inFlight = Array.from({ length: SLOTS.first }, () => attempt(FIRST));
    const report = await attempt(FIRST);
    assert.ok(report.kind === 'not_attempted');
    assert.deepEqual([report.endpoint, report.in_flight], ['busy', 16]);
    assert.ok((report.look_again_ms ?? 0) > 0);
    assert.equal(posted.length, SLOTS.first);
    answer();
    const [last] = await Promise.all(inFlight.slice(-1));
    assert.equal(last?.kind, 'attempted');
  });

  it('waits if a few are in flight while the circuit breaker of its endpoint is open', async () => {
    let answer = () => {};
    const failing = {
      since: new Date().toISOString(),
      backoff_until: new Date(Date.now() + 60_000).toISOString(),
    };
    const { attempt } = attempts(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(EMPTY_ANSWER);
        }),
      { failing },
    );
    const retry = { ...FIRST, number: 2, isolated: true };
    const inFlight = Array.from({ length: SLOTS.fewest }, () => attempt(retry));
    const report = await attempt({ ...retry, slot_wait_ms: 0 });
    assert.ok(report.kind === 'not_attempted');
    assert.deepEqual([report.endpoint, report.in_flight], ['busy', SLOTS.fewest]);
    answer();
    await Promise.all(inFlight.slice(-1));
    assert.equal((await attempt(FIRST).catch(() => undefined))?.kind, 'not_attempted', 'first ones wait');
  });

  it('has the time that its endpoint says, in the isolated lane if that is more than others have', async () => {
    const timeouts = (posted: unknown[]) =>
      posted.map((request) => (request as { timeoutMs: number }).timeoutMs);
    const longer = attempts({}, { options: { attempt_timeout: '30s' } });
    await assert.rejects(longer.attempt({ ...FIRST, placed: true }), /isolated lane/);
    await longer.attempt({ ...FIRST, isolated: true });
    assert.deepEqual(timeouts(longer.posted), [30_000]);
    const shorter = attempts({}, { options: { attempt_timeout: '1s' } });
    await shorter.attempt(FIRST);
    assert.deepEqual(timeouts(shorter.posted), [1_000]);
  });

  it('says so if its time was the limit of its endpoint', async () => {
    const late = async () => {
      await delay(2);
      return { error_code: 'timeout' as const, error: 'no answer within 1ms', trace: { timings: {} } };
    };
    for (const [options, error] of [
      [{ attempt_timeout: '1ms' }, 'no answer within 1ms (attempt_timeout)'],
      [{ attempt_timeout: '5s' }, 'no answer within 1ms'],
      [{}, 'no answer within 1ms'],
    ] as const) {
      const report = await attempts(late, { options }).attempt(FIRST);
      assert.ok(report.kind === 'attempted');
      assert.equal(report.attempt.error, error);
    }
  });

  it('waits while other processes make as many as its endpoint allows at once', async () => {
    const { attempt, posted } = attempts({}, { options: { max_concurrency: 2 } });
    const report = await attempt(FIRST);
    assert.ok(report.kind === 'not_attempted');
    assert.deepEqual([report.endpoint, report.most], ['busy', 2]);
    assert.equal(
      reasonOf({ cause: waitCause(report) }),
      'The endpoint is busy: it takes at most 2 at once (max_concurrency).',
    );
    assert.deepEqual(posted, []);
  });

  it('gives its lease back whatever it is answered with', async () => {
    for (const answer of [{ statusCode: 200 }, { statusCode: 500 }, { statusCode: 410 }, failing]) {
      let held = 0;
      const release = async () => {
        held -= 1;
      };
      const take = async () => {
        held += 1;
        return { release };
      };
      const { attempt } = attempts(answer, { options: { max_concurrency: 2 }, leases: { take } });
      await attempt({ ...FIRST, isolated: true }).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(held, 0);
    }
  });

  it('gives its slot back whatever happens', async () => {
    const { attempt } = attempts(failing);
    for (let index = 0; index < 2 * SLOTS.first; index++)
      await assert.rejects(attempt({ ...FIRST, isolated: true }), /cannot be reached/);
  });
});
