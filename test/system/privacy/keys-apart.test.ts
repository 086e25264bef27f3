import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { migrate } from '../../../src/bin/migrate.js';
import { startService } from '../../../src/bin/service.js';
import { loadSettings } from '../../../src/config/load.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { dump, restore } from '../../support/outside/dump.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Systems of its own: it moves their keys. */
describe('data keys in a MongoDB of their own [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let folder: string;
  let main: string;
  let apart: string;
  let client: ApiClient;
  let environment: Record<string, string>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-apart-'));
    receiver = await startReceiver();
    system = await startSystem(SHORT_WAITS);
    client = await system.account();
    await client.register(receiver.url);
    main = system.environment['MONGODB_URI'] ?? '';
    apart = `${main}keys`;
    environment = { ...system.environment, HOOKLINE_KEYS_MONGODB_URI: apart };
  });
  after(async () => {
    await system.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  const moveKeys = async (more: Record<string, string> = {}) => {
    const said: string[] = [];
    await migrate(loadSettings({ ...environment, ...more }), (line) => void said.push(line));
    return said.join();
  };
  const start = (settings: Record<string, string>) =>
    startService(loadSettings(settings), 'api', pino({ level: 'silent' }));
  const erased = async (id: string) =>
    (await client.request('GET', `/v18.0/events/${id}`)).json.payload === null;
  const post = async (person: string) =>
    (await client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), customer_email: person }))).id;

  it('are moved there, and read as before', async () => {
    const before = await post('ada@example.com');
    await system.service.stop();
    await assert.rejects(start(environment), /have not been moved.*run "hookline migrate"/);
    assert.match(await moveKeys(), /moved to their own MongoDB: 1/);
    assert.equal(await moveKeys(), '');
    await system.temporal.close();
    await system.database.close();
    system = await startSystem({ ...environment, HOOKLINE_PORT: '0' });
    client = apiClient(system.url, { ...client, key: client.key });
    assert.equal(await erased(before), false);
    const after = await post('bob@example.com');
    assert.equal(await erased(after), false);
    await dump(main, join(folder, 'main'));
    await dump(apart, join(folder, 'apart'));
    const { readFile } = await import('node:fs/promises');
    assert.equal(await readFile(join(folder, 'main', 'data_keys'), 'utf8').catch(() => '[]'), '[]');
    assert.equal(JSON.parse(await readFile(join(folder, 'apart', 'data_keys'), 'utf8')).length, 2);
    const body = { subject: 'ada@example.com' };
    const { json } = await client.request('POST', '/v18.0/subjects/erase', { body });
    await until(
      async () => (await client.request('GET', `/v18.0/erasures/${json.id}`)).json,
      ({ erased_at }) => erased_at !== undefined,
    );
    // The backup of everything else brings nothing back.
    await restore(main, join(folder, 'main'));
    assert.deepEqual([await erased(before), await erased(after)], [true, false]);
  });

  it('are looked for nowhere else: a service does not start without them', async () => {
    const { HOOKLINE_KEYS_MONGODB_URI: _, ...without } = environment;
    await assert.rejects(start(without), /set HOOKLINE_KEYS_MONGODB_URI/);
    await assert.rejects(
      start({ ...environment, HOOKLINE_KEYS_MONGODB_URI: `${main}other` }),
      /does not hold the data keys of this installation/,
    );
    await assert.rejects(
      moveKeys({ HOOKLINE_KEYS_MONGODB_URI: `${main}other` }),
      /does not hold the data keys/,
    );
    await assert.rejects(
      moveKeys({ MONGODB_URI: `${main}new` }),
      /names a database with data keys.*copy the collection data_key_home/,
    );
    await assert.rejects(
      start({ ...environment, HOOKLINE_KEYS_MONGODB_URI: 'mongodb://127.0.0.1:1/keys' }),
      /cannot be reached at 127\.0\.0\.1:1\. Check HOOKLINE_KEYS_MONGODB_URI/,
    );
  });
});
