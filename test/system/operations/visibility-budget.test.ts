import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import {
  type CloudFrontend,
  startCloudFrontend,
  visibilityCalls,
} from '../../support/outside/cloud-frontend.js';
import { servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** So slow that what a page does between two of its calls takes no time beside the wait for its next turn. */
const PER_SECOND = 2;
/** Lists that the greedy account has asked for at any moment. */
const GREEDY = 20;

describe('the budget of visibility calls [world]', () => {
  /** Counts the calls to Temporal. */
  let frontend: CloudFrontend;
  let system: TestSystem;

  before(async () => {
    frontend = await startCloudFrontend({ upstream: servers().temporalAddress });
    system = await startSystem({
      HOOKLINE_VISIBILITY_PER_SECOND: String(PER_SECOND),
      TEMPORAL_ADDRESS: frontend.address,
    });
  });
  after(async () => {
    await system.stop();
    await frontend.close();
  });

  async function refusedCalls(): Promise<number> {
    const text = await (await fetch(`${system.url}/metrics`)).text();
    return Number(/^hookline_visibility_refused_total\{asker="person"\} (\d+)$/m.exec(text)?.[1]);
  }

  /** Replays are listed by Temporal. */
  const page = (client: ApiClient, limit = 5) => client.request('GET', `/v18.0/replays?limit=${limit}`);

  it('is shared out: an account that asks for lists in a loop takes no more than another that asks for one', async () => {
    const [greedy, modest] = [await system.account(), await system.account()];
    const before = visibilityCalls(frontend);
    assert.equal((await page(modest)).status, 200);
    const ofPage = visibilityCalls(frontend) - before;
    assert.ok(ofPage > 0);

    let isOver = false;
    let asked = 0;
    const answers: { status: number; retryAfter: string | null; detail: string }[] = [];
    const loop = async () => {
      while (!isOver) {
        asked += 1;
        // Each another question, or equal ones would be answered together.
        const { status, headers, json } = await page(greedy, 1 + (asked % 100));
        answers.push({ status, retryAfter: headers.get('retry-after'), detail: json.detail });
      }
    };
    const loops = Promise.all(Array.from({ length: GREEDY }, loop));
    try {
      // What was saved up is spent, and more waits than can be answered.
      await until(
        () => answers.some(({ status }) => status === 503),
        (isBusy) => isBusy,
      );
      const busy = visibilityCalls(frontend);
      assert.equal((await page(modest)).status, 200);
      const taken = visibilityCalls(frontend) - busy;
      // Half of the turns are the other account's, and one before the first call and one more on a slow machine.
      assert.ok(taken <= 3 * ofPage + 2, `${taken} calls were made for a page of ${ofPage}`);
    } finally {
      isOver = true;
      await loops;
    }
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0);
    for (const { retryAfter, detail } of refused) {
      assert.equal(retryAfter, '2');
      assert.match(detail, /^More is to be listed and counted than Temporal has room for: 2 calls a second/);
    }
    assert.ok(answers.some(({ status }) => status === 200));
    await until(refusedCalls, (count) => count >= refused.length);
  });
});
