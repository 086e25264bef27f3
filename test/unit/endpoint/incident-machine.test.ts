import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BACKOFF_AFTER_FAILURES, probeWait } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import {
  IncidentMachine,
  type IncidentStep,
  newIncident,
} from '../../../src/domain/endpoint/breaker/incident-machine.js';

const START = Date.parse('2026-11-27T12:00:00.000Z');
const DISABLE_AFTER_MS = 3_600_000;
const PROBE_MS = 60_000;
const SETTINGS = {
  endpoint: { account_id: 'acct_1', endpoint_id: 'ep_1' },
  disable_after_ms: DISABLE_AFTER_MS,
  probe_interval_ms: PROBE_MS,
};
const iso = (ms: number) => new Date(ms).toISOString();

/** Report on an endpoint, or that time passes. */
type Report = { failures: number; opens_breaker?: true } | { success: true } | { gone: boolean };
type Done = Exclude<IncidentStep, { kind: 'wait' | 'ended' }> & { at: number };

/** An incident, and a world that does what it asks for. */
class Bench {
  now = START;
  readonly machine: IncidentMachine;
  readonly done: Done[] = [];
  ended: Extract<IncidentStep, { kind: 'ended' }> | undefined;
  /** Status of the endpoint when it is marked. */
  status = 'active';
  /** Attempts that were answered 410 at the URL that the endpoint has now. */
  readonly current = new Set<string>();
  /** Reports that arrive while each of the next steps is being done. */
  meanwhile: Report[][] = [];
  private answers = 0;
  /** Failures as they were reported. */
  failures = 0;
  /** A process has opened the circuit breaker. */
  isOpened = false;

  constructor(state = newIncident('run_1', iso(START), iso(START))) {
    this.machine = new IncidentMachine(SETTINGS, state);
  }

  report(report: Report): void {
    if ('failures' in report) {
      const { failures: count, ...opens } = report;
      this.failures += count;
      this.isOpened ||= opens.opens_breaker ?? false;
      this.machine.failed({ count, said: 'got a 503 response', ago_ms: 0, ...opens }, this.now);
    } else if ('success' in report) this.machine.succeeded();
    else {
      this.answers += 1;
      const cause = `evt_${this.answers}:1`;
      if (report.gone) this.current.add(cause);
      this.machine.answeredGone(cause, 1);
    }
  }

  /**
   * Does what is to be done.
   *
   * @returns until when nothing is, unless something is reported; `undefined` if the incident has ended
   */
  run(): number | undefined {
    for (;;) {
      const step = this.machine.step(this.now);
      if (step.kind === 'wait') return step.until;
      if (step.kind === 'ended') {
        this.ended = step;
        return undefined;
      }
      this.done.push({ ...step, at: this.now });
      assert.ok(this.done.length < 1_000, 'it goes round in circles');
      for (const report of this.meanwhile.shift() ?? []) this.report(report);
      if ('failing' in step) this.machine.marked(this.status);
      if (step.kind === 'disable')
        this.machine.disabled(this.status === 'active' && !this.isOfAnEarlierUrl(step.cause.cause));
    }
  }

  /** Lets time pass, with all that is due in it. */
  pass(ms: number): void {
    const end = this.now + ms;
    let reached = Number.NEGATIVE_INFINITY;
    for (let until = this.run(); until !== undefined && until <= end; until = this.run()) {
      assert.ok(until > reached, 'a wait is one');
      reached = until;
      this.now = Math.max(this.now, until);
      this.machine.waited(until);
    }
    this.now = end;
  }

  private isOfAnEarlierUrl(cause: string): boolean {
    return cause !== this.machine.state.id && !this.current.has(cause);
  }

  get hasManyFailures(): boolean {
    return this.isOpened || this.failures >= BACKOFF_AFTER_FAILURES;
  }

  get kinds(): string {
    return this.done.map(({ kind }) => kind).join(' ');
  }
}

const MANY = { failures: BACKOFF_AFTER_FAILURES };

describe('the incident machine', () => {
  it('opens with the first failure, and closes with the next success without a release', () => {
    const bench = new Bench();
    bench.report({ failures: 1 });
    assert.equal(bench.run(), START + DISABLE_AFTER_MS);
    const [open] = bench.done;
    assert.ok(open?.kind === 'open');
    assert.deepEqual(open.failing, { since: iso(START) }, 'nothing waits for a probe yet');
    assert.equal(open.event.transition, 'run_1:endpoint.failing');
    bench.now += 500;
    bench.report({ success: true });
    bench.run();
    const close = bench.done.at(-1);
    assert.ok(close?.kind === 'close');
    assert.equal(close.release, false);
    assert.equal(close.event.payload['recovered_at'], iso(START + 500));
    assert.deepEqual(bench.ended, { kind: 'ended', outcome: 'recovered' });
  });

  it('has deliveries wait after many failures, probes at growing intervals, and releases what waited', () => {
    const bench = new Bench();
    bench.report({ failures: BACKOFF_AFTER_FAILURES - 1 });
    bench.run();
    bench.report({ failures: 1 });
    bench.pass(160_000);
    assert.equal(bench.kinds, 'open hold probe probe probe probe probe');
    const hold = bench.done[1];
    assert.ok(hold?.kind === 'hold');
    assert.equal(hold.failing.backoff_until, iso(START + 5_000));
    const probes = bench.done.filter(({ kind }) => kind === 'probe').map(({ at }) => (at - START) / 1_000);
    assert.deepEqual(probes, [5, 10, 20, 40, 100]);
    bench.report({ success: true });
    bench.run();
    const close = bench.done.at(-1);
    assert.ok(close?.kind === 'close' && close.release);
    assert.equal(bench.machine.open.failures, BACKOFF_AFTER_FAILURES);
  });

  it('probes and releases after few failures, too, if a process has opened the circuit breaker by failures before', () => {
    const bench = new Bench();
    bench.report({ failures: 1, opens_breaker: true });
    bench.pass(5_000);
    assert.equal(bench.kinds, 'open hold probe');
    bench.report({ success: true });
    bench.run();
    const close = bench.done.at(-1);
    assert.ok(close?.kind === 'close' && close.release);
    assert.equal(close.event.payload['failures'], 1);
  });

  it('disables the endpoint when its time is up, if the failures span at least half of it', () => {
    const bench = new Bench();
    bench.report({ failures: 1 });
    bench.pass(DISABLE_AFTER_MS / 2);
    bench.report({ failures: 1 });
    bench.pass(DISABLE_AFTER_MS);
    const last = bench.done.at(-1);
    assert.ok(last?.kind === 'disable');
    assert.equal(last.at, START + DISABLE_AFTER_MS);
    assert.match(last.reason, /failed for 1h without a success; the last attempt got a 503 response/);
    assert.equal(bench.ended?.outcome, 'disabled');
  });

  it('lapses when its time is up and the failures are old', () => {
    const bench = new Bench();
    bench.report(MANY);
    bench.pass(DISABLE_AFTER_MS);
    assert.equal(bench.done.at(-1)?.kind, 'unmark');
    assert.equal(bench.ended?.outcome, 'lapsed');
  });

  it('is superseded if the endpoint is not active when it is to be marked, and probes nothing then', () => {
    for (const reports of [[{ failures: 1 }], [MANY]]) {
      const bench = new Bench();
      bench.status = 'paused';
      for (const report of reports) bench.report(report);
      bench.run();
      assert.equal(bench.kinds, 'open unmark');
      assert.equal(bench.ended?.outcome, 'superseded');
    }
  });

  describe('of an endpoint that answered 410', () => {
    it('disables it, and has nothing to watch if it has another URL by now', () => {
      for (const [gone, outcome] of [
        [true, 'disabled'],
        [false, 'superseded'],
      ] as const) {
        const bench = new Bench();
        bench.report({ gone });
        bench.run();
        assert.equal(bench.kinds, 'disable');
        assert.equal(bench.ended?.outcome, outcome);
      }
    });

    it('goes on if it has another URL by now and has failed', () => {
      const bench = new Bench();
      bench.report({ failures: 1 });
      bench.report({ gone: false });
      assert.equal(bench.run(), START + DISABLE_AFTER_MS);
      assert.equal(bench.kinds, 'disable open');
    });

    it('asks once for each answer, until one has disabled it', () => {
      const bench = new Bench();
      for (const gone of [false, true, true]) bench.report({ gone });
      bench.run();
      assert.equal(bench.kinds, 'disable disable');
    });
  });

  describe('while its end is noted', () => {
    function closing(...reports: Report[]): Bench {
      const bench = new Bench();
      bench.report({ failures: 1 });
      bench.report({ success: true });
      bench.meanwhile = [[], reports];
      bench.run();
      return bench;
    }

    it('hears of failures: another incident follows, with an id of its own', () => {
      const { ended } = closing({ failures: 3 });
      assert.equal(ended?.outcome, 'recovered');
      assert.equal(ended.next?.id, `run_1:${iso(START)}`);
      assert.equal(ended.next?.failures, 3);
      assert.equal(ended.next?.announced, false);
    });

    it('hears of many failures and a success: what had to wait is released', () => {
      const bench = closing(MANY, { success: true });
      assert.equal(bench.kinds, 'open close release');
      assert.equal(bench.ended?.next, undefined);
      const opened = closing({ failures: 1, opens_breaker: true }, { success: true });
      assert.equal(opened.kinds, 'open close release');
      assert.equal(closing({ failures: 1 }, { success: true }).kinds, 'open close');
    });

    it('hears that the endpoint is gone', () => {
      const bench = closing({ gone: true });
      assert.equal(bench.kinds, 'open close disable');
      assert.equal(bench.ended?.outcome, 'disabled');
      assert.equal(closing({ gone: false }).ended?.outcome, 'recovered');
    });
  });

  describe('whatever is reported, and whenever', () => {
    const failures = fc.record(
      {
        failures: fc.integer({ min: 1, max: 2 * BACKOFF_AFTER_FAILURES }),
        opens_breaker: fc.constant(true as const),
      },
      { requiredKeys: ['failures'] },
    );
    const earlier: fc.Arbitrary<Report> = fc.oneof(failures, fc.constant({ gone: false }));
    const any: fc.Arbitrary<Report> = fc.oneof(earlier, fc.constant({ success: true } as const));
    /** Time passes: some, or until something is almost due. */
    const passing = fc.oneof(
      fc.record({ ms: fc.integer({ min: 0, max: DISABLE_AFTER_MS / 8 }) }),
      fc.constant({ ms: 'almost' } as const),
    );

    function play(
      script: readonly (Report | { ms: number | 'almost' })[],
      meanwhile: Report[][],
      begin: Report = { failures: 1 },
    ) {
      const bench = new Bench();
      bench.meanwhile = meanwhile;
      bench.report(begin);
      for (const one of script) {
        if (bench.ended) break;
        if ('ms' in one)
          bench.pass(one.ms === 'almost' ? (bench.run() ?? bench.now + 1) - 1 - bench.now : one.ms);
        else bench.report(one);
      }
      return bench;
    }

    it('is opened once, and never probed before the wait for a probe is over, nor while few have failed', () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(any, passing)), fc.array(fc.array(any)), (script, meanwhile) => {
          const { done, hasManyFailures } = play([...script, { ms: DISABLE_AFTER_MS }], meanwhile);
          assert.ok(done.filter(({ kind }) => kind === 'open').length <= 1);
          let earliest = START;
          for (const [index, { at }] of done.filter(({ kind }) => kind === 'probe').entries()) {
            earliest += probeWait(index, PROBE_MS);
            assert.ok(at >= earliest, `probe ${index + 1} at ${at - START}, not before ${earliest - START}`);
            assert.ok(hasManyFailures);
            earliest = at;
          }
        }),
      );
    });

    it('ends as soon as the endpoint answers well, and releases once what had to wait', () => {
      fc.assert(
        fc.property(
          fc.array(fc.oneof(earlier, passing)),
          fc.array(fc.array(earlier)),
          (script, meanwhile) => {
            const bench = play(script, meanwhile);
            fc.pre(bench.ended === undefined);
            bench.pass(0);
            bench.meanwhile = [];
            const { hasManyFailures } = bench;
            bench.report({ success: true });
            assert.equal(bench.run(), undefined);
            assert.deepEqual(bench.ended, { kind: 'ended', outcome: 'recovered' });
            const closes = bench.done.filter((step) => step.kind === 'close');
            assert.deepEqual(
              closes.map(({ release }) => release),
              [hasManyFailures],
            );
            assert.ok(!bench.kinds.includes('release'));
          },
        ),
      );
    });

    it('ends when its time is up at the latest, and loses no failure', () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(any, passing)), fc.array(fc.array(any)), (script, meanwhile) => {
          const bench = play(script, meanwhile);
          bench.pass(START + DISABLE_AFTER_MS - bench.now);
          const { next } = bench.ended ?? assert.fail('it goes on');
          if (next && !bench.kinds.includes('release'))
            assert.equal(bench.machine.open.failures + next.failures, bench.failures);
        }),
      );
    });

    it('goes on in another run as if in one', () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(earlier, passing)), (script) => {
          const bench = play([...script, { ms: 1 }], []);
          fc.pre(bench.ended === undefined);
          const other = new Bench(structuredClone(bench.machine.state));
          other.now = bench.now;
          const before = bench.done.length;
          for (const one of [bench, other]) one.pass(DISABLE_AFTER_MS);
          assert.deepEqual(other.done, bench.done.slice(before));
          assert.deepEqual(other.ended, bench.ended);
        }),
      );
    });
  });
});
