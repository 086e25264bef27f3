import assert from 'node:assert/strict';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { ACCOUNT_ATTRIBUTE } from '../../../src/domain/ledger/search-attributes.js';
import { fanOutWorkflowId, groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Accepted, ApiClient } from '../../support/api-client.js';
import { workflowIdOf } from '../../support/history.js';
import { readAll } from '../../support/parts/pages.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** An execution that makes deliveries, and how many. */
type Carrier = [workflowId: string, deliveries: number];

/** So many deliveries of one event are a group; Temporal Cloud takes half as many in a search attribute. */
const most = () => (servers().apiKey === undefined ? 120 : 60);

/** The groups of an event to so many endpoints. */
function groupsOf(event: string, endpoints: number): Carrier[] {
  const size = most();
  return Array.from({ length: Math.ceil(endpoints / size) }, (_, part) => {
    const first = part * size;
    const length = Math.min(size, endpoints - first);
    return [groupWorkflowId(`${event}:${first}${length > 60 ? `+${length}` : ''}`), length];
  });
}

/** Executions of an event, by how many endpoints it goes to. */
const CASES: { endpoints: number; how: string; carriers(client: ApiClient, event: Accepted): Carrier[] }[] = [
  { endpoints: 0, how: 'has no execution', carriers: () => [] },
  ...[1, 10].map((endpoints) => ({
    ...{ endpoints, how: 'has one for each, under its own id' },
    carriers: (client: ApiClient, event: Accepted) =>
      event.deliveries.map(({ id }): Carrier => [workflowIdOf(client, id), 1]),
  })),
  { endpoints: 100, how: 'is a group', carriers: (_, { id }) => groupsOf(id, 100) },
  {
    ...{ endpoints: 1_000, how: 'is a fan-out and its groups' },
    carriers: ({ accountId }, { id }) => [[fanOutWorkflowId(accountId, id), 0], ...groupsOf(id, 1_000)],
  },
];

/** A system of its own: how busy it is decides what is started together. */
describe('a purchase, while little else happens [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;

  before(async () => {
    system = await startSystem();
  });
  after(() => system.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  /** Ids of all executions of some accounts, so many at least. */
  const executionsOf = (accounts: readonly string[], least: number) =>
    until(
      async () => {
        const query = accounts.map((id) => `${ACCOUNT_ATTRIBUTE.name} = '${id}'`).join(' OR ');
        const ids: string[] = [];
        for await (const { workflowId } of system.temporal.client.workflow.list({ query }))
          ids.push(workflowId);
        return ids.sort();
      },
      ({ length }) => length >= least,
    );

  for (const { endpoints, how, carriers } of CASES)
    it(`to ${endpoints} endpoints ${how}, and arrives once at each`, async () => {
      const [client, other] = [await system.account(), await system.account()];
      const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/${index}`);
      await registerDirectly(system.database.endpoints, client.accountId, urls);
      const event = await client.purchase();
      assert.equal(event.delivery_count, endpoints);
      await receiver.waitFor(({ length }) => length >= endpoints);
      const rows = await until(
        () => readAll(client, `/v18.0/deliveries?event_id=${event.id}&limit=100`),
        (all) => all.length >= endpoints && all.every(({ status }) => status === 'delivered'),
      );
      assert.equal(new Set(rows.map(({ endpoint_id }) => endpoint_id)).size, endpoints);
      assert.equal(rows.length, endpoints);

      const expected = carriers(client, event);
      const carried = new Map(expected.map(([id]) => [id, 0]));
      for (const { workflow_id: id } of rows) carried.set(id, (carried.get(id) ?? 0) + 1);
      assert.deepEqual([...carried].sort(), [...expected].sort());
      // An execution that begins later shows that lists have those that began before.
      await other.register(`${receiver.url}/other`);
      const [later] = (await other.purchase()).deliveries;
      await other.deliveryUntil(later?.id ?? '', ({ status }) => status === 'delivered');
      const ids = [...carried.keys(), workflowIdOf(other, later?.id ?? '')];
      assert.deepEqual(await executionsOf([client.accountId, other.accountId], ids.length), ids.sort());

      assert.deepEqual(
        (await readAll<{ id: string }>(client, '/v18.0/events')).map(({ id }) => id),
        [event.id],
      );
      const paths = receiver.received.flatMap(({ path }) => (path === '/other' ? [] : path));
      assert.deepEqual([paths.length, new Set(paths).size], [endpoints, endpoints]);
      assert.ok(
        receiver.received.every(
          ({ headers, path }) => path === '/other' || headers['webhook-id'] === event.id,
        ),
      );
    });
});
