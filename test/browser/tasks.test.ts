import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { ApiClient } from '../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { findBarriers, sharedBrowser } from './chromium.js';
import { purchaseOf, type Stage, startStage, unavailable, verified } from './stage.js';
import { button, inDialog, says } from './steps.js';
import { SIZES, type Size, startWalk, type Walk } from './walk.js';

type Role = Parameters<typeof startWalk>[2];

/** Tasks of people, and how often they may have to press something until each is done. */
const BARS = {
  'an endpoint is added, verified, and its code copied': 5,
  'why a delivery failed is read, and it is retried': 3,
  'what happened to an order': 0,
  'which account makes the backlog': 0,
  'the secret is rotated, and the overlap ended': 5,
  'a person is erased, and it is said': 4,
  'the example of a kind is sent': 6,
} as const;
type Task = keyof typeof BARS;

// One system and one browser for all. It costs some ten seconds of processor: each task is walked twice to four times
// in Chromium.
describe('what people come for [world]', () => {
  let stage: Stage;
  let browser: Browser;
  let receiver: Receiver;
  before(async function () {
    [browser, stage, receiver] = await Promise.all([sharedBrowser(this), startStage(), startReceiver()]);
    receiver.handle(verified(reply(200)));
  });
  after(async () => {
    await stage?.stop();
    await receiver?.close();
  });

  /** Orders and people of one walk alone, so that it finds what it has made. */
  let last = 7_000;
  const next = () => {
    last += 1;
    return last;
  };

  /** Does a task as both roles, or one of them, on both sizes of screen. */
  const walks = (
    task: Task,
    roles: readonly Role[],
    does: (walk: Walk, at: (path: string) => string, role: Role) => Promise<void>,
  ) => {
    for (const role of roles)
      for (const size of Object.keys(SIZES) as Size[])
        it(`${task}: at the ${role}, on a ${size}, in at most ${BARS[task]} presses`, async () => {
          const token = role === 'portal' ? stage.shop.key : stage.operator.key;
          const walk = await startWalk(browser, size, role, token);
          await does(walk, (path) => `${stage.system.url}/${role}${path}`, role);
          const presses = await walk.presses();
          assert.ok(presses <= BARS[task], `${presses} presses`);
          assert.deepEqual(walk.errors, []);
          await walk.context.close();
        });
  };
  const ofShop = () => `account=${stage.shop.accountId}`;
  const both = ['portal', 'desk'] as const;

  walks(
    'an endpoint is added, verified, and its code copied',
    both,
    async ({ page, begin, goTo }, at, role) => {
      await begin(at(role === 'desk' ? `/overview?${ofShop()}` : '/deliveries'));
      await goTo('Endpoints');
      await page.getByRole('link', { name: 'Register an endpoint' }).click();
      await page.getByLabel('URL').fill(`${receiver.url}/mine`);
      await button(page, 'Register').click();
      await says(page, 'It receives events from now on.');
      await button(page, 'Copy the Node.js code').click();
    },
  );

  walks('why a delivery failed is read, and it is retried', both, async ({ page, begin }, at) => {
    const order = next();
    stage.failing.handle(verified(unavailable('Loyalty points are being counted, please wait.')));
    const { deliveries } = await stage.shop.purchase(purchaseOf(order));
    const failed = deliveries.find(({ endpoint_id }) => endpoint_id === stage.ids.loyalty);
    await stage.shop.deliveryUntil(failed?.id ?? '', ({ status }) => status !== 'delivering');
    await begin(at(`/deliveries?${ofShop()}`));
    const row = page
      .getByRole('row')
      .filter({ hasText: `order-${order}` })
      .filter({ hasText: 'Loyalty points' });
    await row.getByRole('link', { name: 'purchase' }).click();
    await page.getByRole('heading', { name: `purchase · order-${order}` }).waitFor();
    await says(page, 'Loyalty points are being counted');
    stage.failing.handle(verified(reply(200)));
    await button(page, 'Retry now').click();
    await says(page, /^Delivered after/);
  });

  walks('what happened to an order', both, async ({ page, begin }, at, role) => {
    const order = next();
    // The other account has an order, too; it is not found for the first.
    await Promise.all([postListed(stage.shop, order), postListed(stage.stranger, order + 500)]);
    await begin(at(role === 'desk' ? '/overview' : '/deliveries'));
    await search(page, `order-${order}`);
    if (role === 'desk') await says(page, 'ada@example.com');
    else
      await page
        .getByRole('row')
        .filter({ hasText: `order-${order}` })
        .first()
        .waitFor();
    for (const text of ['Warehouse', 'Loyalty points', 'Delivered'])
      await page.getByRole('row').getByText(text).first().waitFor();
    if (role === 'desk') await begin(at('/overview'));
    await search(page, `order-${order + 500}`);
    if (role === 'portal') await says(page, 'Nothing was found');
    else {
      await says(page, 'You act for Birch Books');
      await says(page, 'No endpoint was registered for it');
    }
  });

  walks('which account makes the backlog', ['desk'], async ({ page, begin }, at) => {
    await begin(at('/overview'));
    const share = page.locator('section').filter({ hasText: 'Backlog by account' }).last();
    await share.getByText('Acme Shop').waitFor();
    assert.equal(await share.getByText('Birch Books').count(), 0);
  });

  walks('the secret is rotated, and the overlap ended', both, async ({ page, begin }, at) => {
    await begin(at(`/endpoints/${stage.ids.warehouse}?${ofShop()}`));
    await page.getByRole('tab', { name: 'Secret and code' }).click();
    await button(page, 'Rotate…').click();
    await inDialog(page, 'Rotate').click();
    await says(page, /The previous one signs as well until/);
    await button(page, 'End the overlap…').click();
    await inDialog(page, 'End the overlap').click();
    await says(page, 'Only the new secret signs from now on.');
    await page.getByText('The previous one signs as well until').waitFor({ state: 'detached' });
  });

  walks('a person is erased, and it is said', ['desk'], async ({ page, begin, goTo }, at) => {
    const person = `person${next()}@example.com`;
    await stage.shop.purchase(purchaseOf(last).replace('ada@example.com', person));
    await begin(at(`/overview?${ofShop()}`));
    await goTo('Personal data');
    await page.getByLabel('Person').fill(person);
    await button(page, 'Erase…').click();
    await inDialog(page, 'Erase').click();
    await says(page, /The key is deleted/);
  });

  walks('the example of a kind is sent', both, async ({ page, begin, goTo }, at, role) => {
    await begin(at(role === 'desk' ? `/overview?${ofShop()}` : '/deliveries'));
    await goTo('Event catalogue');
    await page.getByRole('link', { name: 'order.shipped' }).click();
    await button(page, 'Send an example…').click();
    await page.getByLabel('To the endpoint').selectOption({ label: 'Warehouse' });
    await inDialog(page, 'Send').click();
    await page.getByRole('heading', { name: 'order.shipped · order-1001' }).waitFor();
    await says(page, /^Delivered after 1 attempt/);
  });

  it('what a phone folds has no barrier, and the portal looks as its platform wants it, in light and dark', async () => {
    const path = `/v18.0/accounts/${stage.shop.accountId}`;
    const portal = { name: 'Acme Events', color: '#ffcc00' };
    assert.equal((await stage.operator.request('PATCH', path, { body: { portal } })).status, 200);
    const walk = await startWalk(browser, 'phone', 'portal', stage.shop.key);
    const { page } = walk;
    await walk.begin(`${stage.system.url}/portal/deliveries`);
    await page.getByRole('link', { name: 'Acme Events' }).waitFor();
    assert.match(await page.title(), /· Acme Events$/);
    // The platform has no picture of its own; ours is none for it.
    assert.equal(await page.locator('link[rel="icon"]').getAttribute('href'), null);
    assert.equal(await page.getByLabel('Event kind').count(), 1);
    assert.equal(await page.getByLabel('Event kind').isVisible(), false);
    await button(page, 'Filters').click();
    await page.getByLabel('Event kind').selectOption('purchase');
    await button(page, 'Filters (1)').waitFor();
    await button(page, 'Menu').click();
    assert.match(
      await page.evaluate<string>('document.documentElement.style.getPropertyValue("--accent")'),
      /^light-dark\(#/,
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findBarriers(walk), [], colorScheme);
    }
    for (const ours of ['/endpoints/new', `/endpoints/${stage.ids.warehouse}`, '/kinds']) {
      await page.goto(`${stage.system.url}/portal${ours}`);
      await page.getByRole('main').getByRole('heading').first().waitFor();
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
      assert.equal(await page.getByText(/hookline/i).count(), 0, ours);
    }
    await page.goto(`${stage.system.url}/desk`);
    await says(page, 'Hookline');
    assert.equal(await page.getByText('Acme Events').count(), 0);
    assert.ok(await page.locator('link[rel="icon"]').getAttribute('href'));
    assert.deepEqual(walk.errors, []);
    await walk.context.close();
    await stage.operator.request('PATCH', path, { body: { portal: { name: null, color: null } } });
  });
});

/** Posts an order, and waits until lists can find it, a moment later. */
async function postListed(client: ApiClient, order: number): Promise<void> {
  await client.purchase(purchaseOf(order));
  await until(
    async () => (await client.request('GET', `/v18.0/events?key=order_id:order-${order}`)).json.data,
    (events: unknown[]) => events.length > 0,
  );
}

/** Looks for something in the box at the top. */
async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}
