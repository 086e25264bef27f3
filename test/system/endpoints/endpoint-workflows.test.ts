import assert from 'node:assert/strict';
import { OPERATOR } from '../../../src/domain/change/change.js';
import type { ApiClient } from '../../support/api-client.js';
import { pendingAt } from '../../support/parts/pending-endpoint.js';
import { type Handler, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem, VERIFYING } from '../../support/system.js';
import { until } from '../../support/until.js';

/** All but the releases of what is parked. */
const OTHERS = ['endpointIncident', 'secretRotation', 'verifyEndpoint'];
const isRelease = ({ type }: { type: string }) => type === 'releaseParked';
const hasEnded = ({ status }: { status: string }) => status !== 'RUNNING';

/** Answers a challenge with its token, and events with 200. */
const willing: Handler = (_request, response, body) =>
  void response.writeHead(200).end(JSON.parse(String(body)).challenge ?? '');

describe('the workflows that look after an endpoint', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem(VERIFYING);
    client = await system.account();
  });
  beforeEach(async () => {
    receiver = await startReceiver({ handler: willing });
  });
  afterEach(() => receiver.close());

  const show = async (id: string) => (await client.request('GET', `/v18.0/endpoints/${id}`)).json;
  const act = async (method: string, path: string, body: object = {}) => {
    const { status, text } = await client.request(method, `/v18.0/endpoints/${path}`, { body });
    assert.ok(status < 300, text);
  };
  /** Executions that Temporal lists for an endpoint, deliveries aside: the type and status of each run. */
  const runsOf = async (id: string) => {
    const runs: { type: string; status: string }[] = [];
    for await (const { type, status } of system.temporal.client.workflow.list({
      query: `HooklineEndpoint = '${id}'`,
    }))
      if (type !== 'deliver') runs.push({ type, status: status.name });
    return runs.sort((a, b) => a.type.localeCompare(b.type));
  };

  it('are found by their endpoint, and end as Completed [world]', async () => {
    const { id } = await client.register(receiver.url);
    await until(
      () => show(id),
      ({ status }) => status === 'active',
    );
    await act('POST', `${id}/secret/rotate`, { overlap: '100ms' });
    receiver.handle(reply(500));
    const [first] = (await client.purchase()).deliveries;
    await client.deliveryUntil(first?.id ?? '', ({ status }) => status === 'retrying');
    await act('POST', `${id}/pause`);
    const [second] = (await client.purchase()).deliveries;
    await client.deliveryUntil(second?.id ?? '', ({ status }) => status === 'parked');
    receiver.handle(willing);
    await act('POST', `${id}/resume`);
    // A release goes on for half a minute, in case that more is parked; its own test waits for its end. The one after
    // the verification ends where it finds the endpoint paused, and then the resumption begins another.
    const runs = await until(
      () => runsOf(id),
      (all) =>
        all.some(isRelease) && all.filter((run) => !isRelease(run) && hasEnded(run)).length === OTHERS.length,
    );
    assert.deepEqual(new Set(runs.filter(hasEnded).map(({ status }) => status)), new Set(['COMPLETED']));
    assert.deepEqual(
      runs.filter((run) => !isRelease(run)).map(({ type }) => type),
      OTHERS,
    );
    assert.ok(runs.filter(isRelease).length <= 2);
  });

  it('end as Completed though an endpoint is changed again and again while it is being verified', async () => {
    receiver.handle(reply(404));
    const { id } = await client.register(`${receiver.url}/0`);
    const asked = (path: string) => receiver.waitFor((all) => all.some((one) => one.path === path));
    await asked('/0');
    for (const path of ['/1', '/2']) {
      await act('PATCH', id, { target_url: receiver.url + path });
      await asked(path);
    }
    await act('POST', `${id}/verify`);
    await receiver.waitFor((all) => all.filter(({ path }) => path === '/2').length === 2);
    receiver.handle(willing);
    await act('PATCH', id, { target_url: `${receiver.url}/3` });
    await until(
      () => show(id),
      ({ status }) => status === 'active',
    );
    const verifications = async () => (await runsOf(id)).filter(({ type }) => type === 'verifyEndpoint');
    const runs = await until(verifications, (all) => all.every(({ status }) => status !== 'RUNNING'));
    assert.deepEqual(runs, [{ type: 'verifyEndpoint', status: 'COMPLETED' }]);
  });

  it('do not give an endpoint up that was changed since it was asked', async () => {
    receiver.handle(reply(404));
    const { id } = await client.register(receiver.url);
    const stored = () => system.database.endpoints.getFresh(client.accountId, id);
    const before = await stored();
    await act('PATCH', id, { target_url: `${receiver.url}/elsewhere` });
    const after = await stored();
    const giveUp = (asked: typeof before) => {
      const revision = asked?.verification_revision;
      return system.database.endpoints.verificationFailed(client.accountId, id, 'It responded.', revision);
    };
    await giveUp(before);
    assert.equal((await stored())?.status, 'pending');
    await giveUp(after);
    assert.equal((await stored())?.status, 'disabled');
  });

  it('verify an endpoint by its new URL in the end, though whoever changed it crashed before saying so [world]', async () => {
    receiver.handle(reply(404));
    const impatient = await startSystem({
      ...VERIFYING,
      // Time for the first answer, and for what is done after it, on a slow machine.
      HOOKLINE_VERIFICATION_LIMIT: '8s',
    });
    try {
      const { accountId, register } = await impatient.account();
      const { id } = await register(receiver.url);
      await receiver.waitFor((all) => all.length === 1);
      const { endpoints } = impatient.database;
      const before = await until(
        () => endpoints.getFresh(accountId, id),
        (endpoint) => /It responded with 404/.test(endpoint?.status_reason ?? ''),
      );
      receiver.handle(willing);
      assert.ok(
        before && (await endpoints.replace(before, pendingAt(`${receiver.url}/elsewhere`), OPERATOR)),
      );
      await until(
        () => endpoints.getFresh(accountId, id),
        (endpoint) => endpoint?.status === 'active',
      );
    } finally {
      await impatient.stop();
    }
  });
});
