import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { needs } from '../../support/needs.js';
import { searchFiles } from '../../support/outside/search-files.js';
import { startRecords } from '../../support/parts/records.js';
import { type CommandProcess, startCommand } from '../../support/programs/process.js';
import { type Handler, inTurn, type Receiver, startReceiver, testAuthority } from '../../support/receiver.js';
import { until } from '../../support/until.js';

// It starts servers of its own, whose programs take minutes to make.
needs('servers');

/** On a slow machine servers take a minute to start. */
const START_MS = 150_000;
/** In every personal value of the test, and nowhere else. */
const NEEDLE = `quibble${randomBytes(6).toString('hex')}`;

/** Answers with what it was sent, as a subscriber may. */
function echo(status: number): Handler {
  return (_request, response, body) =>
    void response.writeHead(status, { 'x-request-id': JSON.parse(String(body)).customer_email }).end(body);
}

function purchaseOf(person: string): string {
  return JSON.stringify({ ...JSON.parse(PURCHASE), customer_email: `${NEEDLE}.${person}@example.com` });
}

/** The demo's subscriber and the test's receiver have one authority. */
async function shareAuthority(dataDir: string): Promise<void> {
  const { cert, key } = await testAuthority();
  await mkdir(join(dataDir, 'demo'));
  await writeFile(join(dataDir, 'demo', 'demo-ca.pem'), cert);
  await writeFile(join(dataDir, 'demo', 'demo-ca-key.pem'), key);
}

describe('the files of the embedded servers [world]', function () {
  this.timeout(600_000);
  let dataDir: string;
  let temporalPort: number;
  let dev: CommandProcess;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hookline-search-'));
    await shareAuthority(dataDir);
    receiver = await startReceiver();
    dev = startCommand(['dev'], {
      HOOKLINE_DATA_DIR: dataDir,
      HOOKLINE_PORT: '0',
      HOOKLINE_TEMPORAL_PORT: '0',
      HOOKLINE_TEMPORAL_UI_PORT: '0',
      HOOKLINE_MONGODB_PORT: '0',
      HOOKLINE_RETRY_SCHEDULE: '500ms,1h',
      HOOKLINE_RATE_LIMIT_ACCOUNT: 'off',
      HOOKLINE_RATE_LIMIT_TOKEN: 'off',
    });
    const printed = (pattern: RegExp) =>
      until(
        async () => dev.lines.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined),
        (found) => found !== undefined,
        START_MS,
      );
    const url = (await printed(/ready at (http\S+),/)) ?? '';
    const key = (await printed(/^API key\s+(\S+)/)) ?? '';
    const accountId = (await printed(/^Account\s+(\S+)/)) ?? '';
    temporalPort = Number(await printed(/^Temporal: ready at 127\.0\.0\.1:(\d+),/));
    await printed(/^(Running until)/);
    client = apiClient(url, { accountId, key, keyId: '' });
  });
  after(async () => {
    dev.signal('SIGKILL');
    await dev.exited;
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('hold an e-mail address of an event in no form, wherever the event has been', async () => {
    await deliverInEveryWay();
    await records();
    const { status, text } = await client.request(
      'DELETE',
      `/v18.0/subjects/${NEEDLE}.delivered@example.com`,
    );
    assert.ok([200, 202].includes(status), text);

    dev.signal('SIGINT');
    assert.equal(await dev.exited, 0);
    const kinds = await searchFiles(dataDir, 'deliver');
    assert.ok(
      kinds.some((hit) => hit.startsWith('temporal')),
      'the files of Temporal are searched',
    );
    const accounts = (await searchFiles(dataDir, client.accountId)).join();
    assert.match(accounts, /sqlite.*plain/, 'those of MongoDB are searched');
    assert.deepEqual(await searchFiles(dataDir, NEEDLE), []);
  });

  async function deliverInEveryWay(): Promise<void> {
    receiver.handle(inTurn(echo(200)));
    const endpoint = await client.register(receiver.url);
    // The demo's subscriber gets each event, too.
    const post = async (person: string, headers?: Record<string, string>) => {
      const { deliveries } = await client.purchase(purchaseOf(person), headers);
      return deliveries.find(({ endpoint_id }) => endpoint_id === endpoint.id)?.id ?? '';
    };
    const delivered = await post('delivered');
    await client.deliveryUntil(delivered, ({ status }) => status === 'delivered');
    await client.request('POST', `/v18.0/deliveries/${delivered}/resend`);
    await client.deliveryUntil(delivered, ({ attempts, earlier_runs }) => {
      return attempts[0]?.response_snippet?.includes(NEEDLE) === true && earlier_runs?.length === 1;
    });

    // A group, as under load: some are delivered at the second attempt, some wait for a third.
    receiver.handle(inTurn(echo(500), echo(200)));
    const many = Array.from({ length: 30 }, (_, index) => index);
    const ids = await Promise.all(
      many.map((index) => post(`many${index}`, { 'idempotency-key': `many-${index}` })),
    );
    // Those that were held back while the release was under way are found by its last pass, after half a minute.
    for (const id of ids) await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    receiver.handle(echo(503));
    await client.deliveryUntil(await post('retrying'), ({ attempts }) => attempts.length === 2);
    const invalid = { ...JSON.parse(purchaseOf('invalid')), total: NEEDLE };
    const refused = await client.request('POST', '/v18.0/events/purchase', { body: invalid });
    assert.equal(refused.status, 400);

    await client.request('PATCH', `/v18.0/endpoints/${endpoint.id}`, { body: { status: 'paused' } });
    await client.deliveryUntil(await post('parked'), ({ status }) => status === 'parked');
  }

  /** Runs `keepRecords` as its Schedule does. */
  async function records(): Promise<void> {
    const temporal = await connectTemporal({
      address: `127.0.0.1:${temporalPort}`,
      namespace: 'hookline',
    });
    try {
      const settings = { HOOKLINE_TASK_QUEUE: 'hookline' } as Parameters<typeof startRecords>[0]['settings'];
      const result = await (await startRecords({ temporal, settings })).result();
      assert.ok(JSON.stringify(result).match(/[1-9]/), 'something was recorded');
    } finally {
      await temporal.close();
    }
  }
});
