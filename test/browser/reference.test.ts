import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { type ApiClient, PURCHASE } from '../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';
import { openTab, sharedBrowser } from './chromium.js';

describe('the API reference in a browser [world]', () => {
  let system: SharedSystem;
  let shop: ApiClient;
  let browser: Browser;
  before(async function () {
    [browser, system] = await Promise.all([sharedBrowser(this), sharedSystem()]);
    shop = await system.account();
  });

  it('opens the operation that its address names, tries it with a token, and calls no other server', async () => {
    const tab = await openTab(browser);
    const { page, errors } = tab;
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(system.url) && !url.startsWith('data:')) elsewhere.push(url);
    });
    await page.goto(`${system.url}/docs#/events/acceptEvent`);
    const operation = page.locator('.opblock.is-open');
    await operation.getByText('order-1001').first().waitFor();

    await page.locator('.btn.authorize').click();
    await page.locator('.modal-ux input').fill(shop.key);
    await page.locator('.modal-ux .btn.authorize').click();
    await page.locator('.modal-ux .btn-done').click();
    await operation.locator('.try-out__btn').click();
    await operation.getByPlaceholder('kind_or_id').fill('purchase');
    await operation.locator('textarea.body-param__text').fill(PURCHASE);
    await operation.locator('.execute').click();
    await operation.locator('.live-responses-table .response-col_status', { hasText: '202' }).waitFor();

    assert.deepEqual(elsewhere, []);
    assert.deepEqual(errors, []);
    await tab.context.close();
  });
});
