import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { Outbox } from '../../../src/models/outbox/outbox.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { inProcess } from '../../support/programs/command.js';
import { databaseIn, servers } from '../../support/servers.js';
import { sharedSystem } from '../../support/system.js';

describe('hookline outbox', () => {
  let uri: string;
  let producer: mongoose.mongo.MongoClient;
  let documents: mongoose.mongo.Collection<{ _id: string } & Record<string, unknown>>;
  let client: ApiClient;

  before(async () => {
    uri = databaseIn(servers().mongodbUri, `outbox${Date.now()}`);
    producer = await new mongoose.mongo.MongoClient(uri).connect();
  });
  after(() => producer.close());
  beforeEach(async () => {
    client = await (await sharedSystem()).account();
    documents = producer.db().collection(`events${client.accountId}`);
  });

  const environment = () => ({
    HOOKLINE_URL: client.url,
    HOOKLINE_API_KEY: client.key,
    HOOKLINE_OUTBOX_URI: uri,
  });
  const run = async (...options: string[]): Promise<string> => {
    const { exited, lines } = inProcess(
      ['outbox', documents.collectionName, '--once', ...options],
      environment(),
    );
    assert.equal(await exited, 0);
    return lines.join('\n');
  };
  const published = async (): Promise<string[]> => {
    const { data } = (await client.request('GET', '/v18.0/events')).json;
    return data.map(({ id }: { id: string }) => id).reverse();
  };

  it('publishes what waits in the order of its ids, once, and marks it', async () => {
    const payload = JSON.parse(PURCHASE);
    await documents.insertMany([
      { _id: 'b', kind: 'purchase', payload: PURCHASE, note: 'of the producer' },
      { _id: 'a', kind: 'purchase', payload: { ...payload, created_at: new Date() }, keys: { ref: '1' } },
    ]);
    await run('--in-order');
    const marked = await documents.find().sort({ _id: 1 }).toArray();
    assert.deepEqual(
      marked.map(({ event_id }) => event_id),
      await published(),
    );
    assert.ok(marked.every(({ published_at }) => published_at instanceof Date));
    // As after a kill between the two, or beside another reader.
    await documents.updateOne({ _id: 'b' }, { $unset: { published_at: 1, event_id: 1 } });
    await run();
    assert.equal((await documents.findOne({ _id: 'b' }))?.['event_id'], marked[1]?.['event_id']);
    assert.equal((await published()).length, 2);
    assert.equal((await client.request('GET', `/v18.0/events?key=ref:1`)).json.data.length, 1);
  });

  it('marks what is refused with its problem, and goes on', async () => {
    await documents.insertMany([
      { _id: 'a', kind: 'purchase', payload: {} },
      { _id: 'b', kind: 'no_such_kind', payload: {} },
      { _id: 'c', kind: 'purchase', payload: PURCHASE, keys: 7 },
      { _id: 'd', kind: 'purchase', payload: '{"broken":' },
      { _id: 'e', kind: 'purchase', payload: 'x'.repeat(1_100_000) },
      { _id: 'f', kind: 'purchase', payload: PURCHASE },
    ]);
    await run();
    const marked = await documents.find().sort({ _id: 1 }).toArray();
    const problems = marked.map(({ problem = '' }) => String(problem));
    for (const [index, problem] of [
      /not a valid purchase/,
      /no event kind/,
      /keys must be an object/,
      /not valid JSON/,
      /larger than/,
      /^$/,
    ].entries())
      assert.match(problems[index] ?? '', problem);
    assert.deepEqual([marked[5]?.['event_id']], await published());
  });

  it('marks nothing as refused where the caller is wrong, and ends', async () => {
    const platform = await (await sharedSystem()).account(PLATFORM_SCOPES);
    await documents.insertOne({ _id: 'a', kind: 'purchase', payload: PURCHASE });
    for (const [wrong, said] of [
      [{ HOOKLINE_API_KEY: platform.key }, /account/i],
      [{ HOOKLINE_API_KEY: platform.key, HOOKLINE_ACCOUNT: 'nobody' }, /account/i],
    ] as const) {
      const { exited, lines } = inProcess(['outbox', documents.collectionName, '--once'], {
        ...environment(),
        ...wrong,
      });
      assert.equal(await exited, 1);
      assert.match(lines.join('\n'), said);
    }
    assert.deepEqual(Object.keys((await documents.findOne()) ?? {}).sort(), ['_id', 'kind', 'payload']);
  });

  it('shows an id that others have written on one line', async () => {
    await documents.insertOne({ _id: 'a\u001b[8m\nFORGED', kind: 'purchase', payload: PURCHASE });
    const told = await run();
    assert.match(told, /FORGED was refused/);
    assert.ok(!told.includes('\u001b') && !told.includes('\nFORGED'), told);
  });

  it('leaves the mark of another reader', async () => {
    await documents.insertOne({ _id: 'a', kind: 'purchase', payload: PURCHASE });
    const outbox = await Outbox.open(uri, documents.collectionName);
    const [waiting] = await outbox.next(1);
    assert.ok(waiting);
    await outbox.mark(waiting.id, { published_at: new Date(), event_id: 'evt_1' });
    await outbox.mark(waiting.id, { refused_at: new Date(), problem: 'changed' });
    await outbox.close();
    const marked = await documents.findOne({ _id: 'a' });
    assert.deepEqual([marked?.['event_id'], marked?.['problem']], ['evt_1', undefined]);
  });
});
