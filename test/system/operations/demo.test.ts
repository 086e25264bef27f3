import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { Hookline } from '../../../clients/typescript/src/index.js';
import {
  type DemoSubscriber,
  deleteAbandoned,
  registerSubscriber,
  startRegistered,
} from '../../../src/demo/resident.js';
import { testAuthority } from '../../support/receiver.js';
import { sharedSystem, VERIFYING } from '../../support/system.js';

describe("the demo's subscribers, where endpoints are verified", () => {
  let hookline: Hookline;
  let authority: Awaited<ReturnType<typeof testAuthority>>;
  const subscribers: DemoSubscriber[] = [];

  /** A purchase's own one. */
  async function register(): Promise<DemoSubscriber> {
    const subscriber = await registerSubscriber({ hookline, authority, behaviour: { refuse: true } });
    subscribers.push(subscriber);
    return subscriber;
  }
  async function endpoints() {
    const found: { id: string; status: string; target_url: string }[] = [];
    for await (const { id, status, target_url } of hookline.list('/v18.0/endpoints'))
      found.push({ id, status, target_url });
    return found;
  }

  beforeEach(async () => {
    // Whoever does not respond to the first question is asked again an hour later.
    const system = await sharedSystem(VERIFYING);
    const { key } = await system.account();
    authority = await testAuthority();
    hookline = new Hookline({ url: system.url, token: key });
  });
  afterEach(async () => {
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
  });

  it('are verified before anything is sent, and leave no endpoint behind that fails', async () => {
    const [killed, running] = [await register(), await register()];
    deepEqual(
      (await endpoints()).map(({ status }) => status),
      ['active', 'active'],
    );
    await killed.close();
    await deleteAbandoned(hookline);
    deepEqual(
      (await endpoints()).map(({ id }) => id),
      [running.registration.endpoint_id],
    );
  });

  it('that stay move to another port where theirs is taken', async () => {
    const { registration } = await register();
    const second = await startRegistered(registration, authority, hookline);
    subscribers.push(second);
    notEqual(second.port, registration.subscriber_port);
    const [endpoint] = await endpoints();
    deepEqual(endpoint, { id: registration.endpoint_id, status: 'active', target_url: second.url });
    equal(second.registration.subscriber_port, second.port);
  });
});
