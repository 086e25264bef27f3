import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import { parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { DeliveryReader } from '../../../src/temporal/read/delivery-reader.js';
import { EventReader } from '../../../src/temporal/read/event-reader.js';
import type { Accepted, ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** Enough at once that most of them go in groups. */
const EVENTS = 20;
/** How far visibility is behind in this test, milliseconds. On a busy cluster it is that far behind by itself. */
const BEHIND_MS = 300;

/** A client to which visibility lists an execution only some time after its start. */
function withSlowVisibility(client: Client): Client {
  const service = client.workflowService;
  const listWorkflowExecutions = async (request: object) => {
    const response = await service.listWorkflowExecutions(request);
    const visible = Date.now() - BEHIND_MS;
    response.executions = response.executions.filter(
      ({ startTime }) => Number(startTime?.seconds) * 1_000 + Number(startTime?.nanos) / 1e6 < visible,
    );
    return response;
  };
  const slow = Object.create(service, { listWorkflowExecutions: { value: listWorkflowExecutions } });
  return Object.create(client, { workflowService: { value: slow } });
}

describe('an event that another node has accepted a moment ago', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let deliveries: DeliveryReader;
  let events: EventReader;
  let endpointIds: string[];

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
    endpointIds = [(await client.register(receiver.url)).id];
    // What this node knows: none of the groups that the system has started.
    const sources = {
      client: withSlowVisibility(system.temporal.client),
      sealer: system.sealer,
      records: system.database.records,
      incidents: system.database.incidents,
    };
    deliveries = new DeliveryReader(sources);
    events = new EventReader(sources);
  });
  after(() => receiver.close());

  /** Posts many events at once, and reads each as soon as it has been accepted. */
  const readEach = (read: (event: Accepted, deliveryId: string) => Promise<void>) =>
    Promise.all(
      Array.from({ length: EVENTS }, async () => {
        const event = await client.purchase();
        await read(event, event.deliveries[0]?.id ?? '');
      }),
    );

  it('is found, with its delivery [world]', async () => {
    await readEach(async ({ id }, deliveryId) => {
      const event = await events.get(client.accountId, id);
      assert.deepEqual(
        event?.deliveries.map((delivery) => delivery.id),
        [deliveryId],
      );
    });
  });

  it('has a delivery that is found', async () => {
    await readEach(async (_, deliveryId) => {
      const key = parseDeliveryId(deliveryId);
      const delivery = key && (await deliveries.get(client.accountId, key));
      assert.equal(delivery?.id, deliveryId);
      assert.match(delivery?.workflow_id ?? '', /^(dlv_|group:)/);
    });
  });

  it('has deliveries that are listed', async () => {
    await readEach(async ({ id }, deliveryId) => {
      const { data } = await deliveries.list(client.accountId, { event_id: id }, 10);
      assert.deepEqual(
        data.map((delivery) => delivery.id),
        [deliveryId],
      );
    });
  });

  it('is not found if there is no such event, however young its id is', async () => {
    const event_id = newId('event');
    assert.equal(await events.get(client.accountId, event_id), undefined);
    const key = { event_id, endpoint_id: endpointIds[0] ?? '' };
    assert.equal(await deliveries.get(client.accountId, key), undefined);
  });
});
