import { deepEqual, equal, match } from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { Hookline } from '../../../clients/typescript/src/index.js';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { inProcess } from '../../support/programs/command.js';
import { type CommandProcess, startCommand, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('hookline listen [world]', () => {
  let environment: Record<string, string>;
  let database: Database;
  let client: ApiClient;
  let receiver: Receiver;
  let command: CommandProcess;
  let secret: string;
  let endpointId: string;
  let service: Awaited<ReturnType<typeof startServiceProcess>>;

  before(async () => {
    environment = await testEnvironment({ HOOKLINE_PORT: String(await freePort()) });
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    receiver = await startReceiver({ tls: false });
    service = await startServiceProcess(environment);
    client = await newAccount(database, service.url);
    command = startCommand(
      ['listen', '--forward', `${receiver.url}/hooks`, '--kinds', 'purchase', '--json'],
      { HOOKLINE_URL: service.url, HOOKLINE_API_KEY: client.key },
    );
    const [first] = await until(
      () => command.lines,
      (lines) => lines.some((line) => line.includes('Connected')),
    );
    ({ secret, endpoint_id: endpointId } = JSON.parse(first ?? '{}'));
  });
  after(async () => {
    command.signal('SIGKILL');
    await service.kill();
    await receiver.close();
    await database.close();
  });

  const delivered = (id: string) => client.deliveryUntil(id, ({ status }) => status === 'delivered');
  const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);

  it('posts deliveries to the receiver as they were signed, and says what was answered', async () => {
    receiver.handle(reply(200, {}, 'thanks'));
    const event = await client.purchase();
    const delivery = await delivered(event.deliveries[0]?.id ?? '');
    equal(delivery.attempts[0]?.response_snippet, 'thanks');
    const [request] = receiver.received;
    equal(request?.path, '/hooks');
    equal(request?.body.toString(), PURCHASE);
    new Webhook(secret).verify(request?.body.toString() ?? '', request?.headers ?? {});
    const line = await until(
      () => command.lines.find((text) => text.includes('"type":"delivery"')),
      (text) => text !== undefined,
    );
    const shown = JSON.parse(line ?? '');
    deepEqual(
      [shown.event_id, shown.body, shown.response.status_code, shown.response.body],
      [event.id, PURCHASE, 200, 'thanks'],
    );
  });

  it('goes on after the receiver was away, and after the server was killed', async () => {
    const { port } = receiver;
    await receiver.close();
    const missed = await client.purchase();
    const id = missed.deliveries[0]?.id ?? '';
    const refused = await client.deliveryUntil(id, ({ attempts }) => attempts.length > 0);
    equal(refused.attempts[0]?.error_code, 'connection_refused');
    receiver = await startReceiver({ tls: false, port });
    await delivered(id);
    equal(ids()[0], missed.id);

    // Posted while the server dies: what it had accepted and what it had not, both arrive.
    const hookline = new Hookline({ url: service.url, token: client.key, retry: { tries: 24 } });
    const posted = Array.from({ length: 20 }, () => hookline.postEvent('purchase', PURCHASE));
    await Promise.race(posted);
    await service.kill();
    await until(
      () => command.lines,
      (lines) => lines.some((line) => line.includes('Not connected')),
    );
    service = await startServiceProcess(environment);
    const events = [...(await Promise.all(posted)), await client.purchase()];
    await receiver.waitFor(() => events.every(({ id }) => ids().includes(id)));
  });

  it('deletes its endpoint when it is stopped', async () => {
    command.signal('SIGINT');
    equal(await command.exited, 0, command.lines.join('\n'));
    equal((await client.request('GET', `/v18.0/endpoints/${endpointId}`)).status, 404);
  });

  it('says what to set, and what is wrong with a key', async () => {
    const without = inProcess(['listen'], {});
    equal(await without.exited, 1);
    match(without.lines.join('\n'), /Set HOOKLINE_API_KEY/);
    const wrong = inProcess(['listen'], { HOOKLINE_URL: service.url, HOOKLINE_API_KEY: 'hl_wrong' });
    equal(await wrong.exited, 1);
    match(wrong.lines.join('\n'), /not a valid access token or API key/);
  });
});
