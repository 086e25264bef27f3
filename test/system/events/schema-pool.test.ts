import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PayloadChecks } from '../../../src/api/payloads/payload-checks.js';
import type { EventKind } from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { COSTLY } from '../../support/parts/costly-schemas.js';
import { until } from '../../support/until.js';

const PER_ACCOUNT = 101;
const THREADS = 2;

/** Takes a thread for as long as a check may. */
const endless = COSTLY.find(({ name }) => name === '1,500 alternatives for each item') ?? assert.fail();
/** Is checked in the pool, at once. */
const quick = {
  schema: { items: { anyOf: Array.from({ length: 100 }, (_, i) => ({ const: i })) } },
  payload: '[1]',
};

describe('the threads that check payloads', () => {
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
  const count = (all: readonly string[], outcome: string) => all.filter((one) => one === outcome).length;

  it('run out of heap without harm to the process, and are replaced', async () => {
    const script = fileURLToPath(new URL('../../support/programs/exhaust-schema-heap.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script]);
    assert.deepEqual(JSON.parse(stdout), ['payload_too_complex', 'valid']);
  });

  it('serve one account after the other: one that sends more than may wait gets 503, and nobody else does', async () => {
    const order: string[] = [];
    const noted = (name: string, outcome: Promise<string>) =>
      outcome.then((one) => {
        order.push(name);
        return one;
      });
    const first = noted('the first of many', check('acct_1', endless));
    const waiting = Array.from({ length: PER_ACCOUNT + 4 }, () => check('acct_1', quick));
    const other = noted('the only one of another account', check('acct_2', quick));
    assert.equal(await other, 'valid');
    assert.equal(await first, 'payload_too_complex');
    assert.deepEqual(order, ['the only one of another account', 'the first of many']);
    const outcomes = await Promise.all(waiting);
    assert.deepEqual([count(outcomes, 'valid'), count(outcomes, 'unavailable')], [PER_ACCOUNT - 1, 5]);
  });

  it('saturated by many accounts, answer in time: 400 to those who had their turn, 503 to the others', async () => {
    const accounts = Array.from({ length: 6 * THREADS }, (_, index) => `acct_${index}`);
    // On a busy machine a thread needs longer to start than a request may last.
    await until(
      () => Promise.all(accounts.slice(0, THREADS).map((account) => check(account, endless))),
      (all) => count(all, 'payload_too_complex') === THREADS,
    );
    const outcomes = await Promise.all(accounts.map((account) => check(account, endless)));
    const served = count(outcomes, 'payload_too_complex');
    assert.ok(served >= THREADS, `${outcomes}`);
    assert.equal(count(outcomes, 'unavailable'), accounts.length - served, `${outcomes}`);
    assert.ok(served < accounts.length, 'some had no turn within the limit');
    assert.equal(await check('acct_0', quick), 'valid');
  });
});
