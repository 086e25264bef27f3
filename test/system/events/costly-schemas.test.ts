import assert from 'node:assert/strict';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { COSTLY } from '../../support/parts/costly-schemas.js';
import { mainThreadTimeOf } from '../../support/parts/thread-time.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** Processor time for which the main thread may be held up at once, milliseconds. A check takes many times that. */
const BRIEF_MS = 300;

describe('a schema that is costly to check [world]', () => {
  let system: SharedSystem;
  let service: ServiceProcess;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    // A process of its own, with little memory: what is tested here has killed processes.
    service = await startServiceProcess({ ...system.environment, NODE_OPTIONS: '--max-old-space-size=512' });
    client = apiClient(service.url, await system.account());
  });
  after(async () => {
    await service.kill();
  });

  /**
   * Sends a request, and meanwhile asks for the service's health again and again: no answer may have to wait until the
   * main thread has checked the request.
   */
  async function sendWhileHealthy(send: () => ReturnType<ApiClient['request']>) {
    let isAnswered = false;
    const answer = send().finally(() => {
      isAnswered = true;
    });
    answer.catch(() => {});
    let longest = 0;
    do {
      const before = mainThreadTimeOf(service.pid) ?? 0;
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
      longest = Math.max(longest, (mainThreadTimeOf(service.pid) ?? 0) - before);
    } while (!isAnswered);
    assert.ok(longest < BRIEF_MS, `health took ${longest} ms of the main thread`);
    return answer;
  }

  // Each takes a thread for as long as a check may. That the bounds refuse all of them is for
  // packages/payload-contract/test/payload-schema.test.ts.
  for (const [index, { name, schema, payload, pointer = '' }] of COSTLY.filter(({ name }) =>
    ['1,000 patterns of names', '1,500 alternatives for each item'].includes(name),
  ).entries()) {
    it(`is refused when it is registered, naming the construct: ${name}`, async () => {
      const { status, json, text } = await sendWhileHealthy(() =>
        client.request('POST', '/v18.0/event_kinds', { body: { name: `costly.k${index}`, schema } }),
      );
      assert.deepEqual([status, json.code], [400, 'invalid_request'], text);
      assert.ok(json.errors[0].pointer.startsWith(pointer), text);
    });

    it(`holds nobody up if it is in the database all the same: ${name}`, async () => {
      await system.database.eventKinds.create(client.accountId, `old.k${index}`, '', schema, OPERATOR);
      const { status, json, text } = await sendWhileHealthy(() =>
        client.request('POST', `/v18.0/events/old.k${index}`, { raw: payload }),
      );
      assert.deepEqual([status, json.code], [400, 'payload_too_complex'], text);
    });
  }
});
