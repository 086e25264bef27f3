import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MAX_WAITING_PER_ACCOUNT } from '../../../src/api/payloads/fair-queue.js';
import { PayloadChecks } from '../../../src/api/payloads/payload-checks.js';
import type { EventKind } from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { needs } from '../../support/needs.js';
import { COSTLY } from '../../support/parts/costly-schemas.js';
import { until } from '../../support/until.js';

needs('build');

/** Takes a thread for as long as a check may. */
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

  it('run out of heap without harm to the process, and are replaced', async () => {
    const script = fileURLToPath(new URL('../../support/programs/exhaust-schema-heap.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script]);
    assert.deepEqual(JSON.parse(stdout), ['payload_too_complex', 'valid']);
  });

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
    // They have their turns one at a time, so most of them came later.
    assert.ok(order.lastIndexOf('victim') < order.length - 1, `${order}`);
  });

  it('refuse with 503 who sends more than may wait, and nobody else', async () => {
    await warm();
    const outcomes = Array.from({ length: MAX_WAITING_PER_ACCOUNT + 5 }, () => check('acct_1', quick));
    const other = check('acct_2', quick);
    assert.equal(await other, 'valid');
    const all = await Promise.all(outcomes);
    assert.deepEqual([count(all, 'valid'), count(all, 'unavailable')], [MAX_WAITING_PER_ACCOUNT + 1, 4]);
  });

  it('saturated by many accounts, answer in time; what is quick is answered meanwhile', async () => {
    const accounts = Array.from({ length: 12 }, (_, index) => `acct_${index}`);
    const all = Promise.all(accounts.map((account) => check(account, endless)));
    await until(
      () => check('acct_0', quick),
      (outcome) => outcome === 'valid',
    );
    const outcomes = await all;
    const refused = count(outcomes, 'unavailable');
    assert.ok(refused > 0, 'some had no turn within the limit');
    assert.equal(refused + count(outcomes, 'payload_too_complex'), accounts.length, `${outcomes}`);
  });

  it('blame the machine, not the payload, for a check of an accepted schema that takes too long', async () => {
    const hurried = new PayloadChecks(undefined, 1);
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
      // Of one that is beyond the bounds, it is the schema.
      const unbounded = { name: 'a.kind', schema: endless.schema } as unknown as EventKind;
      await assert.rejects(hurried.read(owner, unbounded, Buffer.from(endless.payload)), {
        code: 'payload_too_complex',
      });
    } finally {
      await hurried.close();
    }
  });
});
