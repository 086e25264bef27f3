import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ATTEMPT_ERROR_CODES } from '../../../src/domain/attempt/attempt.js';
import { parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { EVENT_KINDS } from '../../../src/domain/event/event-kinds.js';
import {
  deliveryWorkflowId,
  fanOutWorkflowId,
  groupWorkflowId,
} from '../../../src/domain/ledger/workflow-ids.js';
import { adviceFor } from '../../../web/src/pages/deliveries/advice.js';
import { curlOf } from '../../../web/src/pages/deliveries/curl.js';
import { headlineOf } from '../../../web/src/pages/deliveries/headline.js';
import { groupChanges, sentenceOf } from '../../../web/src/pages/desk/change-groups.js';
import { parkLimitText } from '../../../web/src/pages/endpoints/park-limit.js';
import { lastAttemptText } from '../../../web/src/parts/deliveries/attempt-text.js';
import { titleOf } from '../../../web/src/parts/deliveries/title.js';
import { indentJson, payloadIn } from '../../../web/src/parts/events/payload-text.js';
import { relativeTime } from '../../../web/src/parts/relative-time.js';
import { idIn, numberIn, targetOf } from '../../../web/src/shell/search-target.js';

describe('what the web application says of deliveries', () => {
  it('a payload is shown as it was received, whatever its numbers and texts', () => {
    const payload = '{ "total":135.50, "note":",\\"payload\\":1}", "id":12345678901234567890 }';
    assert.equal(
      payloadIn(`{"id":"evt_1","deliveries":[{"reason":"\\"payload\\":"}],"payload":${payload}}`),
      payload,
    );
    assert.equal(
      indentJson(payload),
      '{\n  "total": 135.50,\n  "note": ",\\"payload\\":1}",\n  "id": 12345678901234567890\n}',
    );
    assert.equal(indentJson('{"a":[],"b":{}}'), '{\n  "a": [],\n  "b": {}\n}');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        assert.deepEqual(JSON.parse(indentJson(text)), JSON.parse(text));
        assert.equal(indentJson(text), JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
  });

  it('the id of a workflow is found as the delivery or the event that it is about', () => {
    const [event, account] = ['evt_01M8H64VN4B5P8A89Y41E9A838', 'acct_01M8H685PVPFK6KZZT6D0KZQVZ'];
    const delivery = 'dlv_01M8H64VN4B5P8A89Y41E9A838_01M8H63WJQZ22V5443BEDNZ6Z2';
    assert.equal(idIn(deliveryWorkflowId(account, parseDeliveryId(delivery) ?? assert.fail())), delivery);
    assert.equal(idIn(groupWorkflowId(`${event}:0`)), event);
    assert.equal(idIn(groupWorkflowId(`${event}:0+512`)), event);
    assert.equal(idIn(fanOutWorkflowId(account, event)), event);
    for (const text of ['order_id:1001', 'group:blue', event, delivery, '1001'])
      assert.equal(idIn(text), text);
  });

  it('a delivery that stands still is not said to be on its way', () => {
    assert.equal(headlineOf({ status: 'delivering', attempts: [] }, undefined), 'On its way.');
    for (const status of ['delivering', 'retrying', 'parked'] as const)
      for (const code of ['workflow_failing', 'event_altered'] as const)
        assert.equal(
          headlineOf({ status, attempts: [] }, code),
          'It stands still: the service cannot go on with it.',
        );
    assert.equal(
      headlineOf({ status: 'delivered', attempts: [] }, 'workflow_failing'),
      'Delivered after 0 attempts.',
    );
  });

  it('a delivery is called by its kind and the first key in its payload', () => {
    const kinds = EVENT_KINDS as never;
    assert.equal(titleOf('purchase', { order_id: '1001' }, kinds), 'purchase · order 1001');
    assert.equal(titleOf('purchase', { order_id: 'order-1001' }, kinds), 'purchase · order-1001');
    for (const payload of [undefined, null, {}, 7])
      assert.equal(titleOf('purchase', payload, kinds), 'purchase');
    assert.equal(titleOf('unknown', { order_id: '1001' }, kinds), 'unknown');
  });

  it('each way to fail has an advice, and success has none', () => {
    for (const error_code of ATTEMPT_ERROR_CODES) assert.ok(adviceFor({ error_code }), error_code);
    for (const status_code of [199, 301, 400, 418, 500, 599])
      assert.ok(adviceFor({ status_code }), String(status_code));
    for (const status_code of [200, 204, 299]) assert.equal(adviceFor({ status_code }), undefined);
  });

  it('a request as a command quotes what a shell would read', () => {
    const attempt = { url: 'https://x.test/?a=1&b=2', number: 3, webhook_timestamp: 7 } as never;
    const command = curlOf(attempt, { event_id: 'evt_1', event_kind: 'purchase' }, `{"a":"it's"}`);
    assert.match(command, /^curl 'https:\/\/x\.test\/\?a=1&b=2' \\\n/);
    assert.ok(command.endsWith(`--data-binary '{"a":"it'\\''s"}'`), command);
  });

  it('what one replay did is one thing that was done', () => {
    const change = (id: string, replay?: string, action = 'resent') =>
      ({
        id,
        resource: `delivery:${id}`,
        action,
        actor: { id: 'key_1' },
        ...(replay && { replay }),
      }) as never;
    const groups = groupChanges([
      change('1', 'a'),
      change('2', 'a'),
      change('3', 'b'),
      change('4'),
      change('5'),
    ]);
    assert.deepEqual(
      groups.map((group) => sentenceOf(group, 'first key')),
      [
        'first key replayed 2 deliveries',
        'first key replayed a delivery',
        'first key sent a delivery again',
        'first key sent a delivery again',
      ],
    );
    const [paused] = groupChanges([
      { ...(change('6', undefined, 'paused') as object), resource: 'endpoint:ep_1' } as never,
    ]);
    assert.equal(paused && sentenceOf(paused, 'Night shift'), 'Night shift paused an endpoint');
  });

  it('a change is a sentence, with the name of what was changed', () => {
    const said = (resource: string, action: string, states: object) =>
      sentenceOf(
        { change: { resource, action, actor: { type: 'api_key' }, ...states } as never, others: [] },
        'Ada',
      );
    const warehouse = { description: 'Warehouse', target_url: 'https://a.example/' };
    assert.equal(said('endpoint:ep_1', 'paused', { after: warehouse }), 'Ada paused the endpoint Warehouse');
    assert.equal(
      said('endpoint:ep_1', 'deleted', { before: { ...warehouse, description: '' } }),
      'Ada deleted the endpoint a.example',
    );
    assert.equal(
      said('endpoint:ep_1', 'secret_rotated', { after: warehouse }),
      'Ada rotated the secret of the endpoint Warehouse',
    );
    assert.equal(
      said('api_key:key_1', 'created', { after: { name: '$& key' } }),
      'Ada created the API key $& key',
    );
    assert.equal(said('oauth_client:client_1', 'updated', {}), 'Ada updated an OAuth client');
    const actor = { type: 'system', id: 'erasure' };
    const erasure = (status: string) => said('erasure:ers_1', 'updated', { actor, after: { status } });
    assert.equal(erasure('erased'), 'the payloads of a subject were erased');
    assert.equal(erasure('complete'), 'the erasure of a subject was completed');
  });

  it('a time to come is the nearest number of days, and one that has passed the whole ones', () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    const days = (count: number) => new Date(now + count * 86_400_000).toISOString();
    assert.equal(relativeTime(days(5 - 1 / 1_440), now), 'in 5 days');
    assert.equal(relativeTime(days(4.2), now), 'in 4 days');
    assert.equal(relativeTime(days(-1.9), now), 'yesterday');
    assert.equal(relativeTime(days(-4.9), now), '4 days ago');
  });

  it('what waits for too long expires, and is said to, after the time that is set', () => {
    assert.equal(
      parkLimitText(7 * 86_400_000),
      'One that has waited for 7 days expires; it can be sent again then.',
    );
    assert.match(parkLimitText(90 * 60_000), / 90 minutes /);
    assert.match(parkLimitText(undefined), / too long /);
  });

  it('a row says how the latest attempt went', () => {
    const row = (status: string, more: object = {}) => lastAttemptText({ status, ...more } as never);
    const failed = { number: 3, status_code: 503 };
    assert.equal(
      row('delivered', { last_attempt: { number: 1, status_code: 204, duration_ms: 3 } }),
      '204 · 3 ms',
    );
    assert.equal(row('retrying', { last_attempt: failed, max_attempts: 10 }), '503 · attempt 3 of 10');
    assert.equal(
      row('exhausted', {
        last_attempt: { number: 10, error_code: 'connection_refused', duration_ms: 1_200 },
      }),
      'connection refused · 1.2 s · attempt 10',
    );
    // Retries by hand can go past the schedule.
    assert.equal(row('parked', { last_attempt: { number: 12 }, max_attempts: 10 }), 'attempt 12');
    assert.equal(row('delivering'), '');
  });

  it('a search leads to what has an id, or to the deliveries of a key', () => {
    assert.deepEqual(targetOf('dlv_1_2'), { page: 'deliveries/$id', id: 'dlv_1_2' });
    assert.deepEqual(targetOf('key_1'), { page: 'changes', search: { resource: 'api_key:key_1' } });
    assert.deepEqual(targetOf('order_id:1001'), { page: 'deliveries', search: { key: 'order_id:1001' } });
    for (const text of ['1001', 'Birch Books', 'hooks.example.com', 'localhost:3000'])
      assert.equal(targetOf(text), undefined, text);
    assert.equal(numberIn('order 1002'), '1002');
    for (const text of ['1002', 'Birch Books']) assert.equal(numberIn(text), undefined, text);
  });
});
