import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/**
 * Texts that end the literal of a visibility query early: Temporal's parser reads a backslash as the start of an
 * escape.
 */
const INJECTIONS = [
  `\\' OR WorkflowType = "deliver" --`,
  `\\' OR WorkflowType = "deliver" --`,
  `\\' OR HooklineEventHead = true --`,
  `x' OR WorkflowType = 'deliver`,
];
/** Texts that no kind has as its name; some made the server fail. */
const NO_NAMES = ['\\', '\u0000', 'purchase\u0000', "'", '"', 'a\nb', '%', 'é', ''];

describe('a filter that is not what it should be', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let victim: ApiClient;
  let thief: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    victim = await system.account();
    thief = await system.account();
    await victim.register(receiver.url);
    const { deliveries } = await victim.purchase();
    await victim.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
  });
  after(() => receiver.close());

  const paths = (text: string) => {
    const value = encodeURIComponent(text);
    return [
      `/events?kind=${value}`,
      `/deliveries?event_kind=${value}`,
      `/deliveries?event_id=${value}`,
      `/deliveries?endpoint_id=${value}`,
      `/deliveries?status=${value}`,
      `/deliveries?created_after=${value}`,
      `/events?created_before=${value}`,
    ];
  };

  for (const text of [...INJECTIONS, ...NO_NAMES]) {
    it(`is refused at once and finds nothing of another account: ${JSON.stringify(text)}`, async () => {
      for (const path of paths(text)) {
        const answer = await thief.request('GET', `/v18.0${path}`);
        assert.equal(answer.status, 400, `${path}: ${answer.text}`);
        assert.equal(answer.json.code, 'invalid_request');
      }
    });
  }

  it('is refused in a path, too', async () => {
    for (const text of INJECTIONS) {
      for (const path of ['/events/', '/deliveries/']) {
        const answer = await thief.request('GET', `/v18.0${path}${encodeURIComponent(text)}`);
        assert.equal(answer.status, 404, answer.text);
      }
    }
  });
});
