import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { auditNumbers } from '../../../src/bin/service/sequence/number-audit.js';
import { settleNumbers } from '../../../src/bin/service/sequence/settle-numbers.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { LEAP } from '../../../src/domain/sequence/lost-numbers.js';
import { SEQUENCE } from '../../../src/domain/sequence/sequence.js';
import type { Database } from '../../../src/models/database.js';
import { type EventDocument, EventSeal } from '../../../src/models/event/event-document.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { type Forger, startForger } from '../../support/parts/forger.js';
import { forget, recorded, runRecords } from '../../support/parts/records.js';
import type { StoredDocument } from '../../support/parts/stored-rows.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

// A system of its own: numbers of all its accounts are settled and looked at.
describe('what somebody writes of numbers in MongoDB alone', () => {
  let forger: Forger;
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  /** As another process has it: it knows of no account yet. */
  let other: Database;

  before(async () => {
    forger = await startForger();
    ({ system } = forger);
    receiver = await startReceiver({ handler: reply(200) });
    // Of whom there are records, `hookline records verify` has something to compare.
    client = await system.account();
    await client.register(receiver.url);
    const { deliveries } = (await client.purchase()) as never as { deliveries: { id: string }[] };
    await recorded(system, client, [deliveries[0]?.id ?? '']);
  });
  after(async () => {
    await receiver.close();
    await forger.stop();
  });
  beforeEach(async () => {
    client = await system.account();
    other = await forger.another();
  });
  afterEach(() => other.close());

  const collection = (name: string) => forger.collection(name);
  const get = async (path = '/sequence') => client.request('GET', `/v18.0${path}`);
  const post = async () => (await client.purchase()) as never as { id: string; sequence: number };
  const reserve = (database = other) => database.sequences.reserve(client.accountId, 'another', 4);
  const stored = async () =>
    (await collection('sequences').findOne({ _id: client.accountId })) ?? assert.fail('no sequence');
  /** Reports of the daily check. */
  const told = async (): Promise<string[]> => {
    const all: string[] = [];
    await auditNumbers(system.database, async (reason, what, how) => {
      all.push(`${reason}: ${what} ${how}`);
    });
    return all.filter((line) => line.includes(client.accountId));
  };
  const verified = async (): Promise<string[]> => {
    const output = await runHere('records', system.environment, ['verify']).catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    return output.split('\n').filter((line) => line.includes(client.accountId));
  };
  /** Asserts that a sequence is named everywhere, and that numbers go on above all that can have been given. */
  const isNamed = async (how: RegExp, given: number) => {
    const { status, json } = await get();
    assert.deepEqual([status, json.code], [409, 'record_altered']);
    assert.match(json.detail, how);
    const { first, last, lost } = await reserve();
    assert.ok(first > given + LEAP.least, `${first}`);
    assert.match(lost?.why ?? '', how);
    assert.equal((await reserve()).first, last + 1, 'once');
    const found = (await get()).json;
    assert.deepEqual([found.complete, found.lost[0].last], [false, first - 1]);
  };

  const FORGED: Record<string, (document: StoredDocument) => Record<string, unknown>> = {
    'a smaller next number, so that some are given twice': () => ({ next: 2 }),
    'a block in which the number of an event that was removed is open': ({ blocks }) => ({
      blocks: [...(blocks as object[]), { first: 1, last: 1, holder: 'gone', reserved_at: new Date() }],
    }),
    'numbers that are lost': () => ({ lost: [{ first: 1, last: 1, at: new Date(), why: 'a restore' }] }),
    'no tag': () => ({ tag: null }),
    'a text in the place of blocks': () => ({ blocks: 'none' }),
  };
  for (const [what, forge] of Object.entries(FORGED))
    it(`is not believed of a sequence: ${what}`, async () => {
      const { sequence } = await post();
      await collection('sequences').updateOne({ _id: client.accountId }, { $set: forge(await stored()) });
      const how = /the sequence .*(is not what was written|has no tag)/;
      assert.match((await told()).join('\n'), /^sequence_altered: the sequence of acct_\w+ (is not|has no)/);
      await isNamed(how, sequence);
    });

  it('is named by hookline records verify [world]', async () => {
    await post();
    await collection('sequences').updateOne({ _id: client.accountId }, { $set: { next: 2 } });
    assert.match((await verified()).join('\n'), /the sequence of acct_\w+ {2}is not what was written/);
  });

  it('is an older sequence as it was written: its events and voids know more', async () => {
    await post();
    const older = await stored();
    const { first, last } = await reserve();
    await other.sequences.release(
      client.accountId,
      { first, last, holder: 'another' },
      [{ first, last }],
      undefined,
    );
    await collection('sequences').replaceOne({ _id: client.accountId }, older);
    // This process remembers what it wrote, and another one sees the voids.
    const { lost } = await reserve();
    assert.match(lost?.why ?? '', new RegExp(`does not know number ${last}, which was given`));
    await collection('sequences').replaceOne({ _id: client.accountId }, older);
    const third = await forger.another();
    await reserve(third).finally(() => third.close());
    await collection('sequences').deleteOne({ _id: client.accountId });
    await collection('sequence_voids').deleteMany({ account_id: client.accountId });
    await other.close();
    other = await forger.another();
    await isNamed(/does not know number 1, which was given/, 1);
  });

  it('is no end of a process: its numbers are not declared void', async () => {
    await post();
    const [block] = (await stored())['blocks'] as { holder: string }[];
    const holder = block?.holder ?? '';
    const { until } = (await collection('sequence_holders').findOne({ _id: holder })) ?? assert.fail();
    const end = (at: unknown) =>
      collection('sequence_holders').updateOne({ _id: holder }, { $set: { until: at } });
    await end(new Date('2026-01-01'));
    await settleNumbers({ database: system.database });
    assert.equal((await get()).json.void_count, 0);
    const all: string[] = [];
    for await (const { id, wrong } of system.database.sequences.altered()) all.push(`${id} ${wrong}`);
    const ofHolder = all.filter((line) => line.includes(holder));
    assert.deepEqual(ofHolder, [`the holder of numbers ${holder} is not what was written`]);
    await end(until);
  });

  it('is no event: it fills no number, is named, and moves no other number', async () => {
    const { id, sequence } = await post();
    const event = (await collection('events').findOne({ _id: id })) ?? assert.fail();
    const forged = newId('event');
    for (const number of [sequence + 1, Number.MAX_SAFE_INTEGER]) {
      await collection('events').insertOne({ ...event, _id: forged, once: forged, sequence: number });
      const { first, lost } = await reserve();
      assert.ok(first < 100 && lost === undefined);
      if (number === sequence + 1) {
        const { status, json } = await get();
        assert.deepEqual([status, json.code], [409, 'record_altered']);
        assert.ok(json.detail.includes(forged));
      }
      await collection('events').deleteOne({ _id: forged });
    }
  });

  it('does not hide an event behind a void number: what somebody altered may be one', async () => {
    const { id } = await post();
    const block = await reserve();
    await other.sequences.hold('another', new Date());
    const event = (await collection('events').findOne({ _id: id })) ?? assert.fail();
    const moved = newId('event');
    await collection('events').insertOne({ ...event, _id: moved, once: moved, sequence: block.first });
    await settleNumbers({ database: system.database }, Date.now() + SEQUENCE.settleAfterMs + 1_000_000);
    await collection('events').deleteOne({ _id: moved });
    const { void: voids, missing } = (await get()).json;
    assert.ok(voids.some(({ first }: { first: number }) => first === block.first + 1));
    assert.deepEqual(missing, [{ first: block.first, last: block.first }]);
  });

  it('is told, if two events have a number that both were given', async () => {
    const { id, sequence } = await post();
    assert.deepEqual(await told(), []);
    const event = (await collection('events').findOne({ _id: id })) ?? assert.fail();
    const again = newId('event');
    const document = { ...event, _id: again, once: again } as never as EventDocument;
    const tag = new EventSeal(requireBoxes(system.settings).box).tag(document);
    await collection('events').insertOne({ ...document, tag } as never);
    const twice = /hookline_log_refusals_total\{reason="number_twice"\} (\d+)\n/;
    const count = async () => twice.exec(await (await fetch(`${system.url}/metrics`)).text())?.[1];
    assert.equal(await count(), '0');
    const { json } = await get();
    assert.deepEqual(
      [json.complete, json.twice_count, json.twice],
      [false, 1, [{ first: sequence, last: sequence }]],
    );
    const from = new Date(Date.now() - 3_600_000).toISOString();
    assert.equal((await get(`/sequence?from=${from}`)).json.twice_count, 1);
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const output = await runHere('verify', environment, ['--complete']).catch(
      ({ stdout, code }: { stdout: string; code: number }) => `${code} ${stdout}`,
    );
    assert.match(output, new RegExp(`^1 .*two events have it: {2}${sequence}\n`, 's'));
    // The page is made once in a while.
    assert.equal(await until(count, (found) => found !== '0'), '1');
    assert.deepEqual(await told(), [], 'nothing of the sequence was lost');
    await collection('sequences').deleteOne({ _id: client.accountId });
    await reserve();
    assert.deepEqual(await told(), [
      `number_twice: ${sequence} in the sequence of ${client.accountId} is what two events have`,
    ]);
  });

  it('is told offline by two certificates with one number [world]', async () => {
    await client.register(receiver.url);
    const folder = await mkdtemp(join(tmpdir(), 'hookline-twice-'));
    const certificates: string[] = [];
    const events: string[] = [];
    const certify = async (by: ApiClient) => {
      const { id, deliveries } = await by.purchase();
      const delivery = await client.deliveryUntil(
        deliveries[0]?.id ?? '',
        ({ status }) => status === 'delivered',
      );
      await recorded(system, client, [delivery.id]);
      await runRecords(system);
      const { json } = await get(`/deliveries/${delivery.id}/certificate`);
      assert.equal(json.record.sequence, 1);
      events.push(id);
      certificates.push(join(folder, `${id}.json`));
      await writeFile(certificates.at(-1) ?? '', JSON.stringify(json));
      return delivery;
    };
    await forget(system, [await certify(client)]);
    // All that knows of the number is gone, but for the log.
    await collection('events').deleteOne({ _id: events[0] ?? '' });
    await collection('sequences').deleteOne({ _id: client.accountId });
    const third = await startSystem(system.environment, 'api');
    await certify(apiClient(third.url, client));
    await third.stop();
    const said = await runHere('verify', {}, ['--complete', ...certificates]).catch(
      ({ stdout, code }: { stdout: string; code: number }) => `${code} ${stdout}`,
    );
    assert.match(said, new RegExp(`^1 .*Number 1 is that of several events: ${events.join(', ')}`, 's'));
    assert.match(
      await runHere('verify', {}, ['--complete', ...certificates.slice(1)]),
      /^All numbers from 1 to 1 are there/,
    );
    await rm(folder, { recursive: true });
  });
});
