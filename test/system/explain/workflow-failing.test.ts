import assert from 'node:assert/strict';
import type { Activities } from '../../../activities/index.js';
import { createKeeper } from '../../../src/bin/service/ledger.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { storableEvent } from '../../../src/domain/delivery/sealed-event.js';
import { deliveryAttributes } from '../../../src/domain/ledger/search-attributes.js';
import {
  DELIVERY_TYPE,
  deliveryWorkflowId,
  fanOutWorkflowId,
} from '../../../src/domain/ledger/workflow-ids.js';
import type { MadeAttempts } from '../../../src/domain/records/row/attempt-orders.js';
import type { deliver } from '../../../workflows/index.js';
import { release } from '../../../workflows/messages.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { answering } from '../../support/parts/answered.js';
import { groupOf } from '../../support/parts/group-of.js';
import { startStubWorker, startStubWorkflows } from '../../support/parts/stub-worker.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Reports that no code makes: the workflow's code throws on them. */
const BROKEN = { delivered: 1 } as unknown as MadeAttempts;

describe('explain, of a delivery whose workflow task fails [world]', () => {
  const taskQueue = `failing-${newId('event')}`;
  let system: SharedSystem;
  let client: ApiClient;
  let stop = async () => {};
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });
  afterEach(() => stop());

  const newKey = () => ({
    account_id: client.accountId,
    event_id: newId('event'),
    endpoint_id: newId('endpoint'),
  });
  type Key = ReturnType<typeof newKey>;

  async function store(key: Key, ...others: { endpoint_id: string }[]): Promise<void> {
    const [event] = groupOf(key).events;
    const targets = [key, ...others].map(({ endpoint_id }) => ({ endpoint_id }));
    const storable = await storableEvent(
      system.sealer,
      { ...(event ?? assert.fail()), payload: PURCHASE },
      undefined,
    );
    await system.database.events.insert([{ ...storable, targets, carriers: [], starter: 'a test' }]);
  }

  async function start(key: Key) {
    await store(key);
    return system.temporal.client.workflow.start<typeof deliver>(DELIVERY_TYPE, {
      workflowId: deliveryWorkflowId(key.account_id, key),
      taskQueue,
      // Of a try that fails after the first one Temporal is told nothing: the next one begins when the time for it is
      // over.
      workflowTaskTimeout: '1s',
      typedSearchAttributes: deliveryAttributes({ ...key, event_kind: 'purchase' }, key.endpoint_id),
      args: [groupOf(key, { schedule: [1] })],
    });
  }

  const keepRows: Activities['keepRows'] = async (told) => (await createKeeper(system).keep(told)).size === 0;

  const explain = ({ endpoint_id, event_id }: Key) =>
    client.request('GET', `/v18.0/explain?endpoint_id=${endpoint_id}&event_id=${event_id}`);

  const verdictOn = async (key: Key, code: string) => {
    const answer = await until(
      () => explain(key),
      ({ json }) => json.code === code,
    );
    assert.doesNotMatch(answer.text, /TypeError|no report/);
    return answer.json;
  };

  it('says since when it stands still, and that the operator must act, and then how it went on', async () => {
    let isMended = false;
    stop = await startStubWorker(system.temporal, taskQueue, {
      attemptFirst: async (request) => (isMended ? answering(200)(request) : BROKEN),
      keepRows,
    });
    const key = newKey();
    const before = Date.now();
    await start(key);
    const { summary, since, event, delivery } = await verdictOn(key, 'workflow_failing');
    assert.match(
      summary,
      /^Hookline cannot go on .* at least \d+ times\. The operator of the installation must act/,
    );
    assert.ok(Date.parse(since) >= before && Date.parse(since) <= Date.now(), since);
    assert.equal(event.id, key.event_id);
    assert.deepEqual([delivery.status, delivery.attempts], ['delivering', 0]);
    isMended = true;
    assert.equal((await verdictOn(key, 'delivered')).delivery.attempts, 1);
  });

  it('says so also while Temporal counts the tries from one again, because something has happened', async () => {
    stop = await startStubWorker(system.temporal, taskQueue, { attemptFirst: async () => BROKEN });
    const key = newKey();
    const handle = await start(key);
    const attempt = async () => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0;
    try {
      await verdictOn(key, 'workflow_failing');
      await until(
        async () => {
          const before = await attempt();
          if (before > 2) await handle.signal(release, { endpoint_id: newId('endpoint') });
          const { json } = await explain(key);
          return { before, code: json.code, after: await attempt() };
        },
        ({ before, code, after }) => before <= 2 && after <= 2 && code === 'workflow_failing',
      );
    } finally {
      await handle.terminate('the end of the test');
    }
  });

  it('says so also of one that was attempted before', async () => {
    let began: number | undefined;
    stop = await startStubWorker(system.temporal, taskQueue, {
      attemptFirst: answering(500),
      keepRows,
      async attemptMembers() {
        // Temporal tries again and again.
        began ??= Date.now();
        return BROKEN;
      },
    });
    const key = newKey();
    const handle = await start(key);
    try {
      const { since, event, delivery } = await verdictOn(key, 'workflow_failing');
      assert.ok(Date.parse(since) >= (began ?? Date.now()) && Date.parse(since) <= Date.now(), since);
      assert.deepEqual([event.id, event.kind, delivery.attempts], [key.event_id, 'purchase', 1]);
    } finally {
      await handle.terminate('the end of the test');
    }
  });

  it('says so of an event whose deliveries cannot be started', async () => {
    const { id: endpoint_id } = await client.register('https://subscriber.example/hooks');
    const key = { ...newKey(), endpoint_id };
    const { account_id, event_id } = key;
    stop = await startStubWorkflows(system.temporal, taskQueue, {});
    // The workflow's code throws where it looks at the event.
    await store(key, ...Array.from({ length: 10 }, newKey));
    const input = { event: null, total: 11 };
    const handle = await system.temporal.client.workflow.start('fanOutEvent', {
      workflowId: fanOutWorkflowId(account_id, event_id),
      taskQueue,
      workflowTaskTimeout: '1s',
      args: [input],
      memo: { fan_out: { started: 0, total: 11 }, executions: 1 },
    });
    try {
      const { summary, event: found, delivery } = await verdictOn(key, 'workflow_failing');
      assert.match(summary, /^Hookline cannot go on with starting the event's deliveries: /);
      assert.deepEqual([found.id, delivery], [event_id, undefined]);
    } finally {
      await handle.terminate('the end of the test');
    }
  });
});
