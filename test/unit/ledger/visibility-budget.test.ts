import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { isTemporalUnavailable, VisibilityBusyError } from '../../../src/temporal/errors.js';
import { VisibilityBudget } from '../../../src/temporal/server/visibility/visibility-budget.js';

const WAITS = { firstMs: 3_000, requestMs: 6_000, machineMs: 20_000 };

describe('the budget of calls that list or count', () => {
  const made: string[] = [];
  let observed: string[];
  let budget: VisibilityBudget;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    made.length = 0;
    observed = [];
  });
  afterEach(() => {
    budget.stop();
    mock.timers.reset();
  });

  function create(perSecond: number, waits: Partial<typeof WAITS> = {}): void {
    budget = new VisibilityBudget(perSecond, { ...WAITS, ...waits });
    budget.observer = {
      waited: (kind) => observed.push(`${kind} waited`),
      refused: (kind) => observed.push(`${kind} refused`),
    };
  }

  /** A call that is answered at once, or by the test. @returns what came of it */
  const ask = (name: string, answer: Promise<string> = Promise.resolve(name)): Promise<string> =>
    budget
      .ask(name, () => {
        made.push(name);
        return answer;
      })
      .catch((error: Error) => error.name);
  const by = (account: string, work: () => Promise<string>) =>
    budget.asPerson({ platform: account, account }, work);
  const pass = async (ms: number) => {
    await turn();
    mock.timers.tick(ms);
    await turn();
  };

  it('makes as many calls as there is room for at once, and then as many a second', async () => {
    create(4);
    const answers = Promise.all(Array.from({ length: 10 }, (_, index) => ask(`list ${index}`)));
    await pass(999);
    assert.equal(made.length, 4);
    for (let quarter = 0; quarter < 4; quarter += 1) await pass(250);
    assert.equal(made.length, 8);
    for (let quarter = 0; quarter < 4; quarter += 1) await pass(250);
    assert.equal((await answers).length, 10);
    assert.deepEqual(observed, Array(10).fill('machine waited'));
  });

  it('refuses a person what cannot begin within three seconds, and a machine what cannot in twenty', async () => {
    create(1);
    await by('a', () => ask('first'));
    // Who has had no turn yet goes first.
    const others = ['b', 'c', 'd', 'e'].map((account) => by(account, () => ask('list')));
    const late = by('a', () => ask('late'));
    const machines = Array.from({ length: 25 }, (_, index) => ask(`machine ${index}`));
    for (let second = 0; second < 3; second += 1) await pass(1_000);
    assert.equal(await late, 'VisibilityBusyError');
    assert.ok((await Promise.all(others)).includes('list'));
    for (let second = 3; second < 20; second += 1) await pass(1_000);
    const refused = (await Promise.all(machines)).filter((answer) => answer === 'VisibilityBusyError');
    // One turn a second, of which people had three.
    assert.ok(refused.length >= 5 && refused.length < 15, `${refused.length} refused`);
  });

  it('lets a request that is under way finish: it may wait for longer, and goes before later ones', async () => {
    create(1);
    await ask('taken');
    const request = by('a', async () => `${await ask('page 1')}, ${await ask('page 2')}`);
    const later = by('a', () => ask('later'));
    for (let second = 0; second < 2; second += 1) await pass(1_000);
    assert.deepEqual(made, ['taken', 'page 1', 'page 2']);
    assert.equal(await request, 'page 1, page 2');
    await pass(1_000);
    assert.match(await later, /later|VisibilityBusyError/);
  });

  it('answers equal questions of an account together, and with nothing older than they are', async () => {
    create(100);
    let end = (_: string) => {};
    const underWay = by('a', () => ask('list', new Promise((resolve) => (end = resolve))));
    await turn();
    const equal = Array.from({ length: 5 }, () => by('a', () => ask('list', Promise.resolve('second'))));
    const other = by('b', () => ask('list', Promise.resolve('of b')));
    assert.equal(await other, 'of b');
    assert.deepEqual(made, ['list', 'list']);
    end('first');
    assert.equal(await underWay, 'first');
    assert.deepEqual(await Promise.all(equal), Array(5).fill('second'));
    assert.equal(made.length, 3);
  });

  it('asks once more for who has joined one that had less time', async () => {
    create(1, { firstMs: 500 });
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const joiner = by('a', async () => {
      await ask('taken');
      await gate;
      return ask('list');
    });
    await pass(0);
    const first = by('a', () => ask('list'));
    await turn();
    goOn();
    await pass(500);
    assert.equal(await first, 'VisibilityBusyError');
    await pass(500);
    await pass(0);
    assert.equal(await joiner, 'list');
    assert.deepEqual(made, ['taken', 'list']);
  });

  it('makes no call of a request that has taken too long, and those of what it has left behind as a machine', async () => {
    create(100, { requestMs: 0 });
    assert.equal(await by('a', () => ask('list')), 'VisibilityBusyError');
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    let behind = Promise.resolve('');
    await by('a', async () => {
      behind = gate.then(() => ask('behind'));
      return 'answered';
    });
    goOn();
    assert.equal(await behind, 'behind');
    assert.deepEqual(made, ['behind']);
    assert.deepEqual(observed, ['person refused', 'machine waited']);
  });

  it('goes on after a call that fails', async () => {
    create(100);
    assert.equal(await ask('list', Promise.reject(new TypeError())), 'TypeError');
    assert.equal(await ask('list'), 'list');
  });

  it('makes no call when it is stopped', async () => {
    create(1);
    await ask('taken');
    const waiting = ask('waiting');
    await turn();
    budget.stop();
    assert.deepEqual([await waiting, await ask('later')], ['VisibilityBusyError', 'VisibilityBusyError']);
    assert.deepEqual(made, ['taken']);
  });

  it('is what the error says, and passes for a server that has no room', () => {
    const error = new VisibilityBusyError(30);
    assert.match(error.message, /30 calls a second \(HOOKLINE_VISIBILITY_PER_SECOND\)/);
    assert.ok(isTemporalUnavailable(new Error('wrapped', { cause: error })));
  });
});
