import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { until } from '../support/until.js';
import { findBarriers, openTab, sharedBrowser, type Tab } from './chromium.js';
import { purchaseOf, type Stage, startStage } from './stage.js';

const PICTURES = 'docs/images';
const PHONE = { width: 390, height: 800 };
const DESKTOP = { width: 1280, height: 860 };

/** A page, what is waited for on it, and the name of its picture. */
interface Shown {
  role: 'portal' | 'desk';
  path: string;
  has: string;
  picture: string;
}

describe('every page of the web application [world]', () => {
  let stage: Stage;
  let browser: Browser;
  let deliveryId: string;
  let erasureId: string;
  before(async function () {
    [browser, stage] = await Promise.all([sharedBrowser(this), startStage()]);
    const failed = `/v18.0/deliveries?endpoint_id=${stage.ids.loyalty}&status=retrying&limit=1`;
    const [row] = await until(
      async () => (await stage.shop.request('GET', failed)).json.data,
      ({ length }) => length === 1,
    );
    deliveryId = row.id;
    await stage.shop.purchase(purchaseOf(1005).replace('ada@', 'grace@'));
    const erased = await stage.shop.request('POST', '/v18.0/subjects/erase', {
      body: { subject: 'grace@example.com', reason: 'request 4711' },
    });
    erasureId = erased.json.id;
    const listener = { event_kinds: ['order.shipped'], description: 'Laptop of Ada' };
    const { status } = await stage.shop.request('POST', '/v18.0/listeners', { body: listener });
    assert.equal(status, 201);
    await stage.shop.request('PUT', '/v18.0/feed/consumers/warehouse', {
      body: { position: deliveryId.split('_')[1] },
    });
    await stage.shop.request('POST', '/v18.0/scheduled_events/purchase?deliver_after=P30D', {
      raw: purchaseOf(1006),
    });
  });
  after(() => stage?.stop());

  const pages = (): Shown[] => {
    const event = `evt_${deliveryId.split('_')[1]}`;
    const { loyalty } = stage.ids;
    const ofShop = `account=${stage.shop.accountId}`;
    return [
      { role: 'portal', path: '/deliveries', has: 'Retrying', picture: 'deliveries' },
      {
        role: 'portal',
        path: `/deliveries/${deliveryId}`,
        has: 'Loyalty points are being counted',
        picture: 'delivery',
      },
      { role: 'portal', path: '/events', has: event, picture: 'events' },
      { role: 'portal', path: '/events/scheduled', has: 'All that it matches', picture: 'scheduled' },
      { role: 'portal', path: `/events/${event}`, has: 'ada@example.com', picture: 'event' },
      { role: 'portal', path: '/endpoints', has: 'Laptop of Ada', picture: 'endpoints' },
      { role: 'portal', path: '/endpoints/new', has: 'What you call it', picture: 'register' },
      { role: 'portal', path: `/endpoints/${loyalty}`, has: 'Failing since', picture: 'endpoint' },
      { role: 'portal', path: `/endpoints/${loyalty}?tab=settings`, has: 'Event kinds', picture: 'settings' },
      {
        role: 'portal',
        path: `/endpoints/${loyalty}?tab=secret`,
        has: 'npm install standardwebhooks',
        picture: 'secret',
      },
      { role: 'portal', path: '/replays', has: 'No replays yet', picture: 'replays' },
      { role: 'portal', path: '/replays/new', has: 'Dry run', picture: 'replay' },
      { role: 'portal', path: '/kinds', has: 'A parcel has left', picture: 'catalogue' },
      { role: 'portal', path: '/kinds/order.shipped', has: 'business key', picture: 'kind' },
      { role: 'desk', path: '/overview', has: 'Backlog by account', picture: 'overview' },
      { role: 'desk', path: `/overview?${ofShop}`, has: 'got a 503 response', picture: 'account-overview' },
      { role: 'desk', path: '/deliveries', has: 'Loyalty points', picture: 'all-deliveries' },
      { role: 'desk', path: '/endpoints', has: 'Loyalty points', picture: 'all-endpoints' },
      { role: 'desk', path: '/search#localhost', has: 'Loyalty points', picture: 'search' },
      { role: 'desk', path: '/replays', has: 'Choose an account', picture: 'choose-account' },
      { role: 'desk', path: '/incidents', has: 'got a 503 response', picture: 'incidents' },
      { role: 'desk', path: '/changes', has: 'Paused', picture: 'changes' },
      { role: 'desk', path: `/exports?${ofShop}`, has: 'Times are of acceptance', picture: 'exports' },
      { role: 'desk', path: `/feed?${ofShop}`, has: 'warehouse', picture: 'feed' },
      { role: 'desk', path: `/erasures?${ofShop}`, has: erasureId, picture: 'personal-data' },
      { role: 'desk', path: `/erasures/${erasureId}?${ofShop}`, has: 'Certificate', picture: 'erasure' },
      { role: 'desk', path: '/accounts', has: 'Birch Books', picture: 'accounts' },
      { role: 'desk', path: `/accounts/${stage.shop.accountId}`, has: 'of 60,000 left', picture: 'account' },
      { role: 'desk', path: `/accounts/${stage.shop.accountId}?tab=keys`, has: 'first key', picture: 'keys' },
    ];
  };

  /** Signs in by what the sign-in would store: the portal as the shop, the desk as an operator. */
  const signIn = (tab: Tab) => {
    const sessions = { portal: { token: stage.shop.key }, desk: { token: stage.operator.key } };
    const lines = Object.entries(sessions).map(
      ([role, session]) =>
        `localStorage.setItem('hookline.${role}', ${JSON.stringify(JSON.stringify({ session, until: 4e12 }))});`,
    );
    return tab.context.addInitScript({ content: lines.join('\n') });
  };
  const show = async ({ page }: Tab, { role, path, has }: Shown) => {
    await page.goto(`${stage.system.url}/${role}${path}`);
    await page.getByRole('main').getByText(has).first().waitFor();
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  };

  it('has no barrier for anybody in light and dark colours, fits on a phone, and breaks no rule of its policy', async () => {
    const tab = await openTab(browser);
    await signIn(tab);
    for (const shown of pages()) {
      await show(tab, shown);
      assert.deepEqual(await findBarriers(tab), [], shown.path);
      await tab.page.emulateMedia({ colorScheme: 'dark' });
      // What else there is to find does not depend on colours.
      assert.deepEqual(await findBarriers(tab, ['color-contrast']), [], `${shown.path} in dark colours`);
      await tab.page.emulateMedia({ colorScheme: 'light' });
      await tab.page.setViewportSize(PHONE);
      await until(
        async () => ({
          path: shown.path,
          overflow: await tab.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
        }),
        // Charts follow the width a moment later.
        ({ overflow }) => overflow <= 0,
      );
      await tab.page.setViewportSize(DESKTOP);
    }
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('writes times and numbers as its reader does, charts too', async () => {
    const tab = await openTab(browser, 'de-DE');
    await signIn(tab);
    const drawn = 'globalThis.drawn = []; const { fillText } = CanvasRenderingContext2D.prototype;';
    await tab.context.addInitScript({
      content: `${drawn} CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        globalThis.drawn.push(text); return fillText.call(this, text, ...where); };`,
    });
    const says = (text: RegExp) => tab.page.getByRole('main').getByText(text).first().waitFor();
    const { accountId } = stage.shop;
    await tab.page.goto(`${stage.system.url}/desk/accounts/${accountId}`);
    await says(/ of 60\.000 left/);
    await tab.page.goto(`${stage.system.url}/desk/overview?account=${accountId}`);
    await says(/^\d+,\d %$/);
    await until(
      () => tab.page.evaluate<string[]>('globalThis.drawn'),
      (texts) => texts.some((text) => /^\d\d?\. \p{L}+/u.test(text)),
    );
    await tab.page.goto(`${stage.system.url}/portal/deliveries/${deliveryId}`);
    await says(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d/);
    await tab.context.close();
  });

  it('says so if there is no such page, and if what it is to show does not exist', async () => {
    const tab = await openTab(browser);
    await signIn(tab);
    const { page } = tab;
    await page.goto(`${stage.system.url}/portal/nowhere`);
    await page.getByText('There is no such page').waitFor();
    await page.goto(`${stage.system.url}/portal/endpoints/ep_00000000000000000000000000`);
    await page.getByRole('alert').getByText('There is no endpoint').waitFor();
    assert.deepEqual(await findBarriers(tab), []);
    await tab.context.close();
  });

  it('is drawn for the documents when that is asked for', async () => {
    const tab = await openTab(browser);
    await signIn(tab);
    const wanted = process.env['UPDATE_SNAPSHOTS'] ? pages() : pages().slice(0, 1);
    mkdirSync(PICTURES, { recursive: true });
    for (const shown of wanted) {
      await show(tab, shown);
      const picture = await tab.page.screenshot({ scale: 'css' });
      assert.ok(picture.length > 10_000, shown.path);
      if (process.env['UPDATE_SNAPSHOTS'])
        await tab.page.screenshot({ path: `${PICTURES}/${shown.picture}.png` });
    }
    await tab.context.close();
  });
});
