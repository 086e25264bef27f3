import assert from 'node:assert/strict';
import { CheckPool, MOST_CHECKS } from '../../../src/api/payloads/check-pool.js';
import { PayloadChecks } from '../../../src/api/payloads/payload-checks.js';
import type { PayloadTask } from '../../../src/api/payloads/schema-worker.js';
import type { EventKind } from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { needs } from '../../support/needs.js';
import { COSTLY } from '../../support/parts/costly-schemas.js';
import { mainThreadTime } from '../../support/parts/thread-time.js';
import { until } from '../../support/until.js';

needs('build');

/** Beyond the bounds: it would take a thread for very long. */
const endless = COSTLY.find(({ name }) => name === '1,500 alternatives for each item') ?? assert.fail();
/** Is checked in the pool, because compiling it takes long, and at once. */
const quick = {
  schema: {
    properties: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string' }])),
  },
  payload: '{"p1":"x"}',
};
/** Within the bounds, and takes a good part of what they allow. */
const costly = {
  schema: { allOf: Array.from({ length: 20 }, () => ({ uniqueItems: true })) },
  payload: JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ a: i }))),
};

describe('the threads that check payloads [world]', () => {
  let checks: PayloadChecks;
  beforeEach(() => {
    checks = new PayloadChecks();
  });
  afterEach(() => checks.close());

  const check = async (
    account: string,
    { schema, payload }: { schema: object; payload: string },
    platform = account,
  ) => {
    const kind = { name: 'a.kind', schema } as unknown as EventKind;
    return checks.read({ account, platform }, kind, Buffer.from(payload)).then(
      () => 'valid',
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  };
  /** Starts a thread: on a busy machine it needs longer for that than a request may last. */
  const warm = () =>
    until(
      () => check('acct_first', quick),
      (outcome) => outcome === 'valid',
    );
  const count = (all: readonly string[], outcome: string) => all.filter((one) => one === outcome).length;

  it('do not let four accounts of one platform hold up what is quick, or who registers a schema', async () => {
    const register = (account: string) => checks.checkSchema({ account, platform: account }, quick.schema);
    await warm();
    // Threads take longer to start than the checks do.
    await until(
      () => Promise.all([check('acct_w', costly), check('acct_x', costly), check('acct_y', quick)]),
      (outcomes) => count(outcomes, 'valid') === 3,
    );
    assert.deepEqual(await register('acct_z'), []);
    const order: string[] = [];
    const noted = async <T>(name: string, outcome: Promise<T>) => {
      const result = await outcome;
      order.push(name);
      return result;
    };
    const attackers = Array.from({ length: 4 }, (_, i) => noted('attacker', check(`acct_${i}`, costly, 'p')));
    const quickly = noted('victim', check('acct_v', quick));
    const registered = noted('victim', register('acct_v'));
    const long = noted('victim', check('acct_v', costly));
    assert.deepEqual(await Promise.all([quickly, registered]), ['valid', []]);
    // On a busy machine a costly check may take longer than it is given.
    const outcomes = await Promise.all([...attackers, long]);
    assert.equal(count(outcomes, 'valid') + count(outcomes, 'unavailable'), 5, `${outcomes}`);
    // They have their turns one at a time, so most of them came later: those that were not given up before their turn.
    const isInTime = count(outcomes, 'valid') === outcomes.length;
    assert.ok(!isInTime || order.lastIndexOf('victim') < order.length - 1, `${order}`);
  });

  it('do not have the main thread check what takes long, also within the bounds', async () => {
    await warm();
    const [began, before] = [performance.now(), mainThreadTime()];
    const outcomes = await Promise.all([check('acct_1', costly), check('acct_2', costly)]);
    const took = mainThreadTime() - before;
    assert.equal(count(outcomes, 'valid') + count(outcomes, 'unavailable'), 2, `${outcomes}`);
    // Shared systems of other tests need some of it all the time.
    const others = (performance.now() - began) / 20;
    assert.ok(took < 150 + others, `${took} ms of the main thread`);
  });

  it('check what is quick while long checks of four platforms wait and run', async () => {
    await warm();
    const order: string[] = [];
    const noted = (name: string, outcome: Promise<string>) => outcome.finally(() => order.push(name));
    const long = Array.from({ length: 4 }, (_, index) => noted('long', check(`acct_${index}`, costly)));
    assert.equal(await noted('quick', check('acct_v', quick)), 'valid');
    await Promise.all(long);
    assert.equal(order[0], 'quick', `${order}`);
  });

  it('refuse with 503 who has more checks under way than may be, and nobody else', async () => {
    await warm();
    const { account: most } = MOST_CHECKS;
    assert.equal(2 * most, MOST_CHECKS.platform);
    const of = (account: string, checks: number) =>
      Array.from({ length: checks }, () => check(account, quick, 'p'));
    const outcomes = [...of('acct_1', most + 5), ...of('acct_2', most + 5), ...of('acct_3', 5)];
    assert.equal(await check('acct_other', quick), 'valid');
    const all = await Promise.all(outcomes);
    assert.deepEqual([count(all, 'valid'), count(all, 'unavailable')], [2 * most, 15]);
    assert.equal(await check('acct_1', quick, 'p'), 'valid', 'what is over makes room');
  });

  it('do not run a schema that is beyond the bounds', async () => {
    // One that is run, and does not end, is 'unavailable'.
    assert.equal(await check('acct_1', endless), 'payload_too_complex');
  });

  it('blame the machine for a check that does not end in time', async () => {
    const hurried = new PayloadChecks(1);
    try {
      const kind = { name: 'a.kind', schema: costly.schema } as unknown as EventKind;
      const owner = { account: 'acct_1', platform: 'acct_1' };
      const large = {
        properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`p${i}`, {}])),
      };
      for (const refused of [
        () => hurried.read(owner, kind, Buffer.from(costly.payload)),
        () => hurried.checkSchema(owner, large),
      ])
        await assert.rejects(refused, (error) => {
          assert.ok(error instanceof Problem);
          assert.equal(error.code, 'unavailable');
          assert.ok(Number(error.headers['retry-after']) > 0);
          return true;
        });
    } finally {
      await hurried.close();
    }
  });

  it('end with a check that does not end in time, and are replaced', async () => {
    const pool = new CheckPool(2_000);
    const run = ({ schema, payload: text }: { schema: object; payload: string }) =>
      pool.run<PayloadTask, unknown>({ account: 'a', platform: 'a' }, 'checkPayload', true, {
        ...{ key: text, schema: { ...schema }, schemaBytes: 1, text },
      });
    try {
      await assert.rejects(run(endless), { code: 'unavailable' });
      const began = process.cpuUsage();
      // The only thread of its lane would be busy for 20 s.
      await until(
        () =>
          run(quick).then(
            () => true,
            () => false,
          ),
        Boolean,
      );
      const { user, system } = process.cpuUsage(began);
      assert.ok((user + system) / 1_000 < 15_000);
    } finally {
      await pool.close();
    }
  });
});
