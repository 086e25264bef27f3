import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ErasureLine,
  MAX_ERASURE_LINE,
  writeErasureLine,
} from '../../../src/bin/privacy/erasure-line.js';
import { reapply } from '../../../src/bin/privacy/privacy.js';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { Erasure } from '../../../src/domain/privacy/erasure.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { dump, restore } from '../../support/outside/dump.js';
import { recorded } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { newAccount, SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const purchaseOf = (person: string) =>
  JSON.stringify({ ...JSON.parse(PURCHASE), customer_email: `${person}@example.com` });

/** A system of its own: all of its database is restored. */
describe('erasures after a restore [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let folder: string;
  let file: string;
  let client: ApiClient;
  let gone: ApiClient;
  let operator: ApiClient;
  /** People, each with an event that was delivered to one endpoint and is retried at another. */
  const people: Record<string, { id: string; delivered: string; retrying: string }> = {};
  let leaving: typeof people;
  let erasure: Erasure;

  before(async () => {
    system = await startSystem(SHORT_WAITS);
    folder = await mkdtemp(join(tmpdir(), 'hookline-restore-'));
    file = join(folder, 'erasures.ndjson');
    // Both answer with what they were sent.
    receiver = await startReceiver({
      handler: (request, response, body) =>
        void response.writeHead(request.url === '/fails' ? 500 : 200).end(body),
    });
    client = await system.account();
    gone = await system.account();
    operator = await newAccount(system.database, system.url, OPERATOR_SCOPES);
    for (const one of [client, gone]) {
      await one.register(receiver.url);
      await one.register(`${receiver.url}/fails`);
    }
    for (const name of ['ada', 'bob', 'carol']) people[name] = await post(client, name);
    leaving = { dan: await post(gone, 'dan') };
    await recorded(system, client, [people['ada']?.delivered ?? '']);

    await dump(system.environment['MONGODB_URI'] ?? '', join(folder, 'dump'));
    const body = { subject: 'ada@example.com' };
    const { id } = (await client.request('POST', '/v18.0/subjects/erase', { body })).json;
    erasure = await until(
      async () => (await client.request('GET', `/v18.0/erasures/${id}`)).json,
      ({ status }) => status === 'complete',
    );
    const path = `/v18.0/accounts/${gone.accountId}`;
    assert.equal((await operator.request('DELETE', `${path}?payloads=erase`)).status, 202);
    await until(
      async () => (await operator.request('GET', path)).json.status,
      (status) => status === 'deleted',
    );
    await privacy('export', file);
    await restore(system.environment['MONGODB_URI'] ?? '', join(folder, 'dump'));
  });
  after(async () => {
    await system.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function post(by: ApiClient, person: string) {
    const { id, deliveries } = await by.purchase(purchaseOf(person));
    const found = await Promise.all(
      deliveries.map((one) => by.deliveryUntil(one.id, ({ attempts }) => attempts.length === 1)),
    );
    const of = (status: string) => found.find((one) => one.status === status)?.id ?? assert.fail();
    return { id, delivered: of('delivered'), retrying: of('retrying') };
  }

  const privacy = (...args: string[]) => runHere('privacy', system.environment, args);
  const payloadOf = async (name: string) => {
    const { payload } = (await client.request('GET', `/v18.0/events/${people[name]?.id}`)).json;
    return payload === null ? null : (payload.customer_email as string);
  };
  const keyOf = async (name: string) => {
    const token = await system.database.keySecrets.subjectToken(client.accountId, `${name}@example.com`);
    return (await system.database.dataKeys.ofSubject(client.accountId, token)) ?? assert.fail();
  };
  /** The line that stands for an erasure of somebody, as this installation would write it. */
  const lineFor = async (name: string): Promise<ErasureLine & { type: 'erasure' }> => {
    const { key_id, created_at } = await keyOf(name);
    return {
      type: 'erasure',
      account_id: client.accountId,
      erasure: {
        ...erasure,
        id: erasure.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
        key: { id: key_id, created_at: created_at.toISOString() },
      },
    };
  };

  it('are undone by it, as far as they were made after the backup', async () => {
    await until(
      () => payloadOf('ada'),
      (found) => found === 'ada@example.com',
    );
    assert.deepEqual((await client.request('GET', '/v18.0/erasures')).json.data, []);
  });

  it('leave deliveries ended that have ended since, also those that the copy has as open', async () => {
    const left = [people['ada'], leaving['dan']].map((one) => one?.retrying ?? '');
    const said = await runHere('rebuild', system.environment);
    for (const id of left) assert.match(said, new RegExp(`${id}: closed, cancelled`));
    assert.match(said, /^Started: 0\. Closed by what Temporal knows: 2\. .* they run: 2\./m);
    assert.equal((await client.delivery(left[0] ?? '')).status, 'cancelled');
  });

  it('stand in a file that names nobody', async () => {
    const text = await readFile(file, 'utf8');
    assert.ok(text.includes(erasure.key.id) && text.includes(gone.accountId));
    // A short name alone may stand in an id by chance.
    for (const name of ['@', 'example.com']) assert.ok(!text.toLowerCase().includes(name), name);
    assert.ok(text.split('\n').every((line) => line.length <= MAX_ERASURE_LINE / 4));
  });

  it('are not done from a file that was altered', async () => {
    const bob = (await keyOf('bob')).key_id;
    const forged = join(folder, 'forged.ndjson');
    await writeFile(
      forged,
      (await readFile(file, 'utf8')).replace(erasure.key.id, bob).replace(gone.accountId, client.accountId),
    );
    const said = await privacy('reapply', forged).then(
      () => assert.fail('it was accepted'),
      ({ stdout }: { stdout: string }) => stdout,
    );
    assert.match(said, /Line 1 is refused.*Line 2 is refused.*Erasures: 0 applied/s);
    assert.equal(await payloadOf('bob'), 'bob@example.com');
    assert.equal(await payloadOf('ada'), 'ada@example.com');
  });

  it('are done again from the file, once', async () => {
    assert.match(await privacy('reapply', file), /^Erasures: 2 applied, 0 applied already, 0 unknown here/m);
    assert.match(await privacy('reapply', file), /^Erasures: 0 applied, 2 applied already, 0 unknown here/m);
    // From what the database has recorded: the account's deletion was made after the backup, and is not among that.
    assert.match(await privacy('reapply'), /^Erasures: 0 applied, 1 applied already, 0 unknown here/m);
    await until(
      () => payloadOf('ada'),
      (found) => found === null,
    );
  });

  it('leave nothing readable of it in any view or in MongoDB, and others as they are', async () => {
    const { id = '', delivered = '' } = people['ada'] ?? {};
    const paths = [`/events/${id}`, `/deliveries/${delivered}`, `/deliveries/${delivered}/timeline`];
    for (const path of [...paths, '/erasures', '/changes', '/exports?from=2020-01-01&include=changes']) {
      const { text, status } = await client.request('GET', `/v18.0${path}`);
      assert.ok(status === 200 && !text.includes('ada@'), `${path}: ${text}`);
    }
    const { records } = system.database;
    const { payload, kept } = (await records.event(client.accountId, id)) ?? {};
    assert.ok(kept && !kept.sealed.includes('ada@'));
    assert.equal(payload, undefined);
    assert.equal((await records.delivery(client.accountId, delivered))?.detail, undefined);
    // An account that was deleted is active again: its keys are gone, and its record stands.
    const dan = leaving['dan'];
    assert.equal((await gone.delivery(dan?.delivered ?? '')).status, 'delivered');
    const ofDan = (await records.event(gone.accountId, dan?.id ?? '')) ?? assert.fail();
    assert.deepEqual([ofDan.payload, typeof ofDan.kept?.sealed], [undefined, 'string']);
    assert.equal(await payloadOf('bob'), 'bob@example.com');
    assert.equal((await client.delivery(people['bob']?.retrying ?? '')).status, 'retrying');
  });

  it('are certificates as before, which say when they were done again', async () => {
    const certificate: Erasure = await until(
      async () => (await client.request('GET', `/v18.0/erasures/${erasure.id}`)).json,
      ({ status, reapplied_at }) => status === 'complete' && reapplied_at !== undefined,
    );
    const { reapplied_at = '', completed_at: _, ...rest } = certificate;
    const { completed_at: __, ...before } = erasure;
    // The delivery that it cancelled is closed, so that there was none to cancel again.
    assert.equal(before.cancelled_deliveries, 1);
    assert.deepEqual(rest, { ...before, cancelled_deliveries: 0 });
    assert.ok(reapplied_at > (erasure.erased_at ?? ''));
    const { data } = (await client.request('GET', `/v18.0/changes?resource=erasure:${erasure.id}`)).json;
    assert.equal(data.at(-1).actor.id, 'operator');
  });

  it('cancel what is open of a subject, if Temporal was restored as well', async () => {
    const { keyBox } = requireBoxes(system.settings);
    const end = { type: 'end', lines: 1, exported_at: new Date().toISOString() } as const;
    const lines = [await lineFor('carol'), end].map((line) => writeErasureLine(line, keyBox));
    await writeFile(join(folder, 'carol.ndjson'), lines.join('\n'));
    assert.match(await privacy('reapply', join(folder, 'carol.ndjson')), /^Erasures: 1 applied/m);
    const { retrying = '' } = people['carol'] ?? {};
    await client.deliveryUntil(retrying, ({ status }) => status === 'cancelled');
    await until(
      () => payloadOf('carol'),
      (found) => found === null,
    );
  });

  it('go on where they were cut off', async () => {
    const line = await lineFor('bob');
    line.erasure.id = line.erasure.id.replace(/.$/, (last) => (last === '0' ? '2' : '3'));
    const { database } = system;
    const started: string[] = [];
    const cut = async () => {
      throw new Error('cut off');
    };
    await assert.rejects(reapply(line, database, cut), /cut off/);
    const start = async ({ erasure_id }: { erasure_id: string }) => void started.push(erasure_id);
    assert.equal(await reapply(line, database, start), 'already_applied');
    assert.deepEqual(started, [line.erasure.id]);
    // Another account, whose key it is not.
    const other = { ...line, account_id: gone.accountId };
    assert.equal(
      await reapply({ ...other, erasure: { ...line.erasure, id: erasure.id } }, database, start),
      'unknown',
    );
  });
});
