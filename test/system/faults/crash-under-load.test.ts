import assert from 'node:assert/strict';
import { countRecorded } from '../../../bench/support/recorded.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import { type Accepted, type ApiClient, apiClient } from '../../support/api-client.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const EVENTS = 240;
const CONCURRENCY = 32;
/** The process dies when so many have been acknowledged. */
const KILLED_AFTER = 80;

describe('a crash under load [world]', () => {
  let environment: Record<string, string>;
  let database: Database;
  let temporal: TemporalConnection;
  let receiver: Receiver;
  let service: ServiceProcess;
  let client: ApiClient;
  let heir: TestSystem | undefined;

  before(async () => {
    environment = await testEnvironment();
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    temporal = await connectTemporal(temporalOfRun());
    receiver = await startReceiver();
    service = await startServiceProcess(environment);
    client = await newAccount(database, service.url);
  });
  after(async () => {
    await service.kill();
    await heir?.stop();
    await receiver.close();
    await temporal.close();
    await database.close();
  });

  it('loses nothing that was acknowledged, and leaves nothing open', async () => {
    await client.register(receiver.url);
    const accepted: Accepted[] = [];
    let left = EVENTS;
    let killed: Promise<void> | undefined;
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        while (left > 0 && !killed) {
          left -= 1;
          // After the crash nobody answers: what was not acknowledged is its sender's to repeat.
          const event = await client.purchase().catch(() => undefined);
          if (!event) return;
          accepted.push(event);
          if (accepted.length === KILLED_AFTER) killed = service.kill();
        }
      }),
    );
    await killed;
    assert.ok(accepted.length >= KILLED_AFTER && left > 0, 'killed in the middle');
    const recorded = await countRecorded(temporal, environment['HOOKLINE_TASK_QUEUE'] ?? '');
    const inFlight = receiver.received.length - recorded;

    heir = await startSystem(environment);
    const arrived = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    await until(arrived, (ids) => accepted.every(({ id }) => ids.has(id)));
    const repeats = receiver.received.length - arrived().size;
    assert.ok(repeats <= inFlight, `${repeats} repeats: more than the ${inFlight} that were in flight`);

    const restarted = apiClient(heir.url, client);
    const open = async () => {
      const answers = await Promise.all(
        ['delivering', 'retrying', 'parked'].map((status) =>
          restarted.request('GET', `/v18.0/deliveries?status=${status}`),
        ),
      );
      return answers.flatMap(({ json }) => json.data as DeliverySummary[]);
    };
    await until(open, (deliveries) => deliveries.length === 0);
  });
});
