import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { type ApiClient, PURCHASE } from '../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';
import { findBarriers, openTab, sharedBrowser } from './chromium.js';
import { button, goTo, inDialog, pasteKey, says } from './steps.js';

describe('scheduled events', () => {
  let system: SharedSystem;
  let shop: ApiClient;
  let browser: Browser;
  before(async function () {
    browser = await sharedBrowser(this);
    system = await sharedSystem();
    shop = await system.account();
  });

  it('are listed with their time, and cancelled by whoever may [world]', async () => {
    const { json, status, text } = await shop.request(
      'POST',
      '/v18.0/scheduled_events/purchase?deliver_after=P30D',
      { raw: PURCHASE },
    );
    assert.equal(status, 201, text);
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey({ system } as never, page, 'portal', shop.key);
    await goTo(page, 'Events');
    await page.getByRole('link', { name: 'Scheduled events' }).click();
    await says(page, json.id);
    await says(page, 'All that it matches');
    assert.deepEqual(await findBarriers(tab), []);
    await button(page, `Cancel ${json.id}`).click();
    await inDialog(page, 'Cancel the event').click();
    await says(page, 'No event waits for its time');
    assert.equal((await shop.request('GET', `/v18.0/scheduled_events/${json.id}`)).status, 404);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });
});
