import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { ApiClient } from '../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';
import { findBarriers, openTab, sharedBrowser } from './chromium.js';
import { button, goTo, inDialog, pasteKey, says } from './steps.js';

describe('consumers of the feed', () => {
  let system: SharedSystem;
  let shop: ApiClient;
  let browser: Browser;
  before(async function () {
    browser = await sharedBrowser(this);
    system = await sharedSystem();
    shop = await system.account();
  });

  it('are listed at the desk, moved and deleted [world]', async () => {
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey({ system } as never, page, 'desk', shop.key);
    await goTo(page, 'Feed');
    await says(page, 'No consumers yet');
    await shop.request('PUT', '/v18.0/feed/consumers/billing', { body: {} });
    await says(page, 'Nothing yet');
    await button(page, 'Move billing').click();
    assert.ok(await inDialog(page, 'Move').isDisabled());
    await page.getByLabel('Or from the event with this number').fill('999');
    await inDialog(page, 'Move').click();
    await page.getByRole('alert').getByText('999').waitFor();
    // One of the two is meant.
    await page.getByLabel('Events accepted at this time or later').fill('2026-01-31T12:00:00');
    assert.deepEqual(await findBarriers(tab), []);
    await inDialog(page, 'Move').click();
    await page.getByRole('cell').getByText('2026').waitFor();
    const { json } = await shop.request('GET', '/v18.0/feed/consumers/billing');
    const meant = await page.evaluate<string>('new Date("2026-01-31T12:00:00").toISOString()');
    assert.equal(json.up_to, meant);
    await button(page, 'Delete billing').click();
    await inDialog(page, 'Delete').click();
    await says(page, 'No consumers yet');
    assert.deepEqual((await shop.request('GET', '/v18.0/feed/consumers')).json.data, []);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });
});
