import { registerDirectly } from '../../../bench/support/endpoints.js';
import { MOST_RELEASES_IN_A_ROW } from '../../../src/domain/endpoint/release.js';
import { release } from '../../../workflows/messages.js';
import { workflowIdOf } from '../../support/history.js';
import { hangUp, inTurn, reply } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import {
  act,
  answerChallenge,
  closed,
  purchase,
  replaceEndpoint,
  retrying,
  type Scenarios,
  SLOW,
  start,
  untilParked,
} from './stage.js';

/** Every way through `deliver` with one delivery. */
export const DELIVERIES: Scenarios = {
  'deliver-one-first-success': {
    play: async (stage) => closed(stage, await start(stage)),
  },
  'deliver-one-retry-then-success': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '20ms,20ms' },
    async play(stage) {
      stage.receiver.handle(inTurn(reply(500), reply(503, { 'retry-after': '1' }), reply(200)));
      return closed(stage, await start(stage));
    },
  },
  'deliver-one-retried-by-hand': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      await act(stage, id, 'retry');
      await stage.client.deliveryUntil(id, ({ attempts }) => attempts.length === 2);
      stage.receiver.handle(reply(200));
      await act(stage, id, 'retry');
      return closed(stage, id);
    },
  },
  'deliver-one-cancelled-by-temporal': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      await stage.system.temporal.client.workflow.getHandle(workflowIdOf(stage.client, id)).cancel();
      return closed(stage, id);
    },
  },
  'deliver-one-paused-and-resumed': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '3s' },
    async play(stage) {
      const id = await retrying(stage);
      await act(stage, id, 'pause');
      stage.receiver.handle(reply(200));
      await act(stage, id, 'resume');
      return closed(stage, id);
    },
  },
  'deliver-one-gone-and-released': {
    async play(stage) {
      stage.receiver.handle(inTurn(reply(410), reply(200)));
      const { id: endpointId } = await stage.client.register(stage.receiver.url);
      const id = await purchase(stage);
      await untilParked(stage, id);
      await replaceEndpoint(stage, endpointId);
      return closed(stage, id);
    },
  },
  'deliver-one-expired': {
    settings: { HOOKLINE_PARK_LIMIT: '200ms' },
    async play(stage) {
      await stage.client.register(stage.receiver.url, { status: 'paused' });
      return closed(stage, await purchase(stage));
    },
  },
  'deliver-one-endpoint-deleted': {
    async play(stage) {
      const { id: endpointId } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      const id = await purchase(stage);
      await untilParked(stage, id);
      await stage.client.request('DELETE', `/v18.0/endpoints/${endpointId}`);
      return closed(stage, id);
    },
  },
  'deliver-one-no-answer': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '20ms' },
    async play(stage) {
      stage.receiver.handle(inTurn(hangUp, reply(200)));
      return closed(stage, await start(stage));
    },
  },
  'deliver-one-deferred': {
    async play(stage) {
      await stage.client.register(stage.receiver.url, { rate_limit: 1 });
      const ids = [await purchase(stage), await purchase(stage), await purchase(stage)];
      await Promise.all(ids.map((id) => closed(stage, id)));
      return closed(stage, ids.at(-1) ?? '');
    },
  },
  'deliver-one-in-order': {
    async play(stage) {
      stage.receiver.handle(inTurn(reply(500), reply(200)));
      await stage.client.register(stage.receiver.url, { ordering: 'endpoint', retry_schedule: ['1s'] });
      await purchase(stage);
      const id = await purchase(stage);
      await untilParked(stage, id);
      return closed(stage, id);
    },
  },
  'deliver-one-blocked': {
    async play(stage) {
      const { endpoints } = stage.system.database;
      await registerDirectly(endpoints, stage.client.accountId, ['https://10.0.0.1/']);
      const id = await purchase(stage);
      await untilParked(stage, id);
      await act(stage, id, 'cancel');
      return closed(stage, id);
    },
  },
  'deliver-one-endpoint-disabled': {
    async play(stage) {
      stage.receiver.handle(reply(410));
      const { id: endpointId } = await stage.client.register(stage.receiver.url);
      await untilParked(stage, await purchase(stage));
      const id = await purchase(stage);
      await untilParked(stage, id);
      stage.receiver.handle(reply(200));
      await replaceEndpoint(stage, endpointId);
      return closed(stage, id);
    },
  },
  'deliver-one-endpoint-pending': {
    settings: { HOOKLINE_ENDPOINT_VERIFICATION: 'required', HOOKLINE_VERIFICATION_SCHEDULE: '1h' },
    async play(stage) {
      stage.receiver.handle(answerChallenge);
      const { id: endpointId } = await stage.client.register(stage.receiver.url);
      const path = `/v18.0/endpoints/${endpointId}`;
      await until(
        async () => (await stage.client.request('GET', path)).json,
        ({ status }) => status === 'active',
      );
      stage.receiver.handle(reply(500));
      await replaceEndpoint(stage, endpointId, { target_url: `${stage.receiver.url}/moved` });
      const id = await purchase(stage);
      await untilParked(stage, id);
      stage.receiver.handle(answerChallenge);
      await stage.client.request('POST', `${path}/verify`);
      return closed(stage, id);
    },
  },
  'deliver-one-probed': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      const { endpoint_id, workflow_id } = await stage.client.delivery(id);
      const handle = stage.system.temporal.client.workflow.getHandle(workflow_id);
      await handle.signal(release, { endpoint_id, most: MOST_RELEASES_IN_A_ROW, probe: true });
      await stage.client.deliveryUntil(id, ({ attempts }) => attempts.length === 2);
      stage.receiver.handle(reply(200));
      await handle.signal(release, { endpoint_id, most: MOST_RELEASES_IN_A_ROW });
      return closed(stage, id);
    },
  },
  'deliver-one-resent': {
    async play(stage) {
      const id = await start(stage);
      await closed(stage, id);
      await stage.client.request('POST', `/v18.0/deliveries/${id}/resend`);
      return closed(stage, id);
    },
  },
};
