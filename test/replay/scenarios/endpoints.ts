import { OPERATOR } from '../../../src/domain/change/change.js';
import {
  releaseWorkflowId,
  rotationWorkflowId,
  verificationWorkflowId,
} from '../../../src/domain/ledger/workflow-ids.js';
import { confirmed } from '../../../workflows/messages.js';
import { pendingAt } from '../../support/parts/pending-endpoint.js';
import { reply } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import {
  answerChallenge,
  execution,
  purchase,
  replaceEndpoint,
  type Scenarios,
  type Stage,
  untilParked,
} from './stage.js';

const VERIFIED = { HOOKLINE_ENDPOINT_VERIFICATION: 'required' };
const ASKED_ONCE = {
  ...VERIFIED,
  HOOKLINE_VERIFICATION_SCHEDULE: '1h',
  HOOKLINE_PUBLIC_URL: 'https://hooks.example',
};

/** Every way through the workflows that look after an endpoint. */
export const ENDPOINTS: Scenarios = {
  'release-parked-again': {
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      await untilParked(stage, await purchase(stage));
      await replaceEndpoint(stage, id);
      await replaceEndpoint(stage, id, { status: 'paused' });
      await replaceEndpoint(stage, id);
      return execution(stage, releaseWorkflowId(stage.client.accountId, id));
    },
  },
  'release-parked-until-it-fails-again': {
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      for (let count = 0; count < 15; count += 1) await untilParked(stage, await purchase(stage));
      stage.receiver.handle(reply(500));
      await replaceEndpoint(stage, id);
      return execution(stage, releaseWorkflowId(stage.client.accountId, id));
    },
  },
  'verify-endpoint-again': {
    settings: { ...VERIFIED, HOOKLINE_VERIFICATION_SCHEDULE: '1h' },
    async play(stage) {
      stage.receiver.handle(reply(503));
      const { id } = await stage.client.register(stage.receiver.url);
      await stage.receiver.waitFor((requests) => requests.length === 1);
      await replaceEndpoint(stage, id, { target_url: `${stage.receiver.url}/elsewhere` });
      await stage.receiver.waitFor((requests) => requests.length === 2);
      stage.receiver.handle(answerChallenge);
      await stage.client.request('POST', `/v18.0/endpoints/${id}/verify`);
      return execution(stage, verificationWorkflowId(stage.client.accountId, id));
    },
  },
  'verify-endpoint-confirmed': {
    settings: ASKED_ONCE,
    async play(stage) {
      const { id, confirm } = await asked(stage);
      await confirm();
      return execution(stage, verificationWorkflowId(stage.client.accountId, id));
    },
  },
  'verify-endpoint-confirmed-in-vain': {
    settings: ASKED_ONCE,
    async play(stage) {
      const { id, confirm } = await asked(stage);
      const workflowId = verificationWorkflowId(stage.client.accountId, id);
      const outdated = { target_url: 'https://elsewhere.example/', verification_revision: 1 };
      const { workflow } = stage.system.temporal.client;
      await workflow.getHandle(workflowId).signal(confirmed, outdated);
      await confirm();
      return execution(stage, workflowId);
    },
  },
  'verify-endpoint-changed-unsaid': {
    settings: { ...VERIFIED, HOOKLINE_VERIFICATION_SCHEDULE: '1h', HOOKLINE_VERIFICATION_LIMIT: '3s' },
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url);
      const { endpoints } = stage.system.database;
      const before = await until(
        () => endpoints.getFresh(stage.client.accountId, id),
        (endpoint) => /It responded with/.test(endpoint?.status_reason ?? ''),
      );
      if (!before) throw new Error(`there is no endpoint ${id}`);
      // As if the process that changes it crashed before it could say so.
      await endpoints.replace(before, pendingAt(`${stage.receiver.url}/elsewhere`), OPERATOR);
      await stage.receiver.waitFor((requests) => requests.length === 2);
      return execution(stage, verificationWorkflowId(stage.client.accountId, id));
    },
  },
  'verify-endpoint-given-up': {
    settings: { ...VERIFIED, HOOKLINE_VERIFICATION_SCHEDULE: '50ms', HOOKLINE_VERIFICATION_LIMIT: '1s' },
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url);
      return execution(stage, verificationWorkflowId(stage.client.accountId, id));
    },
  },
  'secret-rotation-overlap-ended': {
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url);
      await rotate(stage, id, '500ms');
      return execution(stage, rotationWorkflowId(stage.client.accountId, id));
    },
  },
};

async function rotate({ client }: Stage, endpointId: string, overlap: string): Promise<void> {
  const answer = await client.request('POST', `/v18.0/endpoints/${endpointId}/secret/rotate`, {
    body: { overlap },
  });
  if (answer.status !== 200) throw new Error(`rotate: ${answer.text}`);
}

/** An endpoint that has been asked whether it wants events, and a call of its confirmation URL. */
async function asked({ client, receiver }: Stage): Promise<{ id: string; confirm(): Promise<unknown> }> {
  const { id } = await client.register(receiver.url);
  const [request] = await receiver.waitFor(([first]) => first?.over === true);
  const { pathname, search } = new URL(JSON.parse(String(request?.body)).confirmation_url);
  const headers = { 'webhook-allowed-rate': '60' };
  return { id, confirm: () => fetch(`${client.url}${pathname}${search}`, { headers }) };
}
