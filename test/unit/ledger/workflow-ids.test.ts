import assert from 'node:assert/strict';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import {
  deliveryWorkflowId,
  fanOutWorkflowId,
  incidentWorkflowId,
  parseDeliveryWorkflowId,
  parseFanOutWorkflowId,
  releaseWorkflowId,
  replayWorkflowId,
  rotationWorkflowId,
  verificationWorkflowId,
} from '../../../src/domain/ledger/workflow-ids.js';

/** Ids of an account, an event and an endpoint. */
function ids() {
  const [event_id, endpoint_id] = [newId('event'), newId('endpoint')];
  return { account_id: newId('account'), event_id, endpoint_id, key: { event_id, endpoint_id } };
}

describe('workflow ids', () => {
  it('of deliveries begin with the id of the delivery, which names event and endpoint', () => {
    const { account_id, key } = ids();
    const workflowId = deliveryWorkflowId(account_id, key);
    assert.equal(workflowId, `${deliveryId(key)}:${account_id}`);
    assert.deepEqual(parseDeliveryWorkflowId(workflowId), { account_id, ...key });
  });

  it('of fan-outs begin with the event', () => {
    const { account_id, event_id } = ids();
    assert.equal(fanOutWorkflowId(account_id, event_id), `fanout:${event_id}:${account_id}`);
    assert.deepEqual(parseFanOutWorkflowId(fanOutWorkflowId(account_id, event_id)), { account_id, event_id });
  });

  it('of an endpoint or a replay have the account at the end', () => {
    const { account_id, endpoint_id } = ids();
    const replay_id = newId('replay');
    assert.deepEqual(
      [
        incidentWorkflowId(account_id, endpoint_id),
        releaseWorkflowId(account_id, endpoint_id),
        rotationWorkflowId(account_id, endpoint_id),
        verificationWorkflowId(account_id, endpoint_id),
        replayWorkflowId(account_id, replay_id),
      ],
      [
        `incident:${endpoint_id}:${account_id}`,
        `release:${endpoint_id}:${account_id}`,
        `rotation:${endpoint_id}:${account_id}`,
        `verify:${endpoint_id}:${account_id}`,
        `replay:${replay_id}:${account_id}`,
      ],
    );
  });

  it('of other executions name no delivery, and no fan-out', () => {
    const { account_id, event_id, endpoint_id } = ids();
    for (const workflowId of [
      `group:${event_id}:0`,
      incidentWorkflowId(account_id, endpoint_id),
      'dlv_',
      '',
    ]) {
      assert.equal(parseDeliveryWorkflowId(workflowId), undefined);
      assert.equal(parseFanOutWorkflowId(workflowId), undefined);
    }
  });
});
