import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { verificationWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, fetchHistory } from '../../support/history.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, VERIFYING } from '../../support/system.js';
import { until } from '../../support/until.js';

const ROUNDS = 10;
/** The change comes at most this long after the confirmation, milliseconds. */
const SPREAD_MS = 40;

describe("a confirmation that races a change of the endpoint's URL", () => {
  let system: SharedSystem;
  let client: ApiClient;
  let own: Receiver;
  let victim: Receiver;

  before(async () => {
    system = await sharedSystem(VERIFYING);
    client = await system.account();
    own = await startReceiver({ handler: reply(202) });
    victim = await startReceiver({ handler: reply(404) });
  });
  after(async () => {
    await own.close();
    await victim.close();
  });

  /** Registers an endpoint at the caller's own URL, and waits for what it is asked. */
  const register = async () => {
    const path = `/${own.received.length}`;
    const { id } = await client.register(own.url + path);
    const requests = await own.waitFor((all) => all.some((one) => one.path === path));
    const body = requests.find((one) => one.path === path)?.body;
    return { id, confirmation: new URL(JSON.parse(String(body)).confirmation_url) };
  };
  const confirm = ({ pathname, search }: URL) => fetch(`${system.url}${pathname}${search}`);
  const moveToVictim = async (id: string) => {
    const body = { target_url: victim.url, event_kinds: ['purchase'] };
    const answer = await client.request('PUT', `/v18.0/endpoints/${id}`, { body });
    assert.equal(answer.status, 200, answer.text);
  };
  const show = async (id: string) => (await client.request('GET', `/v18.0/endpoints/${id}`)).json;
  /**
   * Waits until the endpoint's verification has dealt with everything that reached it, and waits for its next attempt.
   */
  const untilQuiet = (id: string) =>
    until(
      async () => {
        const workflowId = verificationWorkflowId(client.accountId, id);
        return eventTypes(await fetchHistory(system, workflowId)).at(-1);
      },
      (last) => last === 'TIMER_STARTED',
    );

  it('never takes an endpoint into service for a URL that nobody confirmed [world]', async () => {
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, confirmation } = await register();
      const confirmed = confirm(confirmation);
      await delay((round * SPREAD_MS) / ROUNDS);
      await moveToVictim(id);
      await confirmed;
      ids.push(id);
    }
    for (const id of ids) {
      await untilQuiet(id);
      const { status, target_url } = await show(id);
      assert.deepEqual([status, target_url], ['pending', new URL(victim.url).href]);
    }
  });

  it('does not end the verification of the new URL', async () => {
    const { id, confirmation } = await register();
    const stored = await system.database.endpoints.find(id);
    assert.ok(stored);
    await moveToVictim(id);
    const handle = system.temporal.client.workflow.getHandle(verificationWorkflowId(client.accountId, id));
    const { target_url, verification_revision } = stored;
    await handle.signal('confirmed', { target_url, verification_revision });
    await untilQuiet(id);
    assert.equal((await handle.describe()).status.name, 'RUNNING');
    assert.equal((await show(id)).status, 'pending');
    assert.equal((await confirm(confirmation)).status, 403, 'the old confirmation URL is worth nothing');

    const challenges = await victim.waitFor((all) => all.some(({ body }) => String(body).includes(id)));
    const challenge = challenges.find(({ body }) => String(body).includes(id));
    const url = new URL(JSON.parse(String(challenge?.body)).confirmation_url);
    assert.equal((await confirm(url)).status, 202);
    await until(
      () => show(id),
      ({ status }) => status === 'active',
    );
  });

  it('counts, if only the description has changed', async () => {
    const { id, confirmation } = await register();
    const { target_url } = await show(id);
    const body = { target_url, event_kinds: ['purchase'], description: 'changed meanwhile' };
    const [answer, confirmed] = await Promise.all([
      client.request('PUT', `/v18.0/endpoints/${id}`, { body }),
      confirm(confirmation),
    ]);
    assert.deepEqual([answer.status, confirmed.status], [200, 202]);
    const { description } = await until(
      () => show(id),
      ({ status }) => status === 'active',
    );
    assert.equal(description, 'changed meanwhile');
  });
});
