import assert from 'node:assert/strict';
import type { Browser, BrowserContext } from 'playwright-core';
import { newId } from '../../src/domain/basics/ids.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { type IdentityProvider, startIdentityProvider } from '../support/outside/openid-provider.js';
import { startSystem, type TestSystem } from '../support/system.js';
import { WAIT_LIMIT_MS } from '../support/until.js';
import { sharedBrowser } from './chromium.js';
import { button, goTo, says } from './steps.js';

describe('single sign-on at the desk', () => {
  let provider: IdentityProvider;
  let system: TestSystem;
  let browser: Browser;
  let context: BrowserContext;
  before(async function () {
    browser = await sharedBrowser(this);
    provider = await startIdentityProvider({ inIdToken: false });
    const account = newId('account');
    system = await startSystem({ ...provider.settings, HOOKLINE_OIDC_ACCOUNT: account }, 'api');
    await system.database.accounts.create('Operations', OPERATOR, { id: account });
    // The provider has a certificate of the tests.
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(WAIT_LIMIT_MS);
  });
  after(async () => {
    await context?.close();
    await system?.stop();
    await provider?.close();
  });

  it('leads a reader to the page that was asked for, without buttons that change things, and ends with the sign-out [world]', async () => {
    provider.person = 'u-grace';
    const page = await context.newPage();
    await page.goto(`${system.url}/desk/accounts`);
    await button(page, 'Single sign-on').click();
    await says(page, 'Grace Hopper (may only read)');
    assert.equal(new URL(page.url()).pathname, '/desk/accounts');
    await says(page, 'Operations');
    assert.equal(await button(page, 'New account').count(), 0);
    await goTo(page, 'Changes');
    await says(page, /Grace Hopper created the desk session/);

    const { session } = JSON.parse(await page.evaluate('localStorage.getItem("hookline.desk")'));
    const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await button(page, 'Sign out').click();
    assert.equal((await ended).status(), 204);
    await button(page, 'Single sign-on').waitFor();
    assert.match(session.token, /^hlds_/);
    await page.close();
  });

  it('says that somebody has no role, and signs somebody in who may act [world]', async () => {
    const page = await context.newPage();
    await context.clearCookies();
    provider.person = 'u-mallory';
    await page.goto(`${system.url}/desk`);
    await button(page, 'Single sign-on').click();
    await says(page, /You have no role that may use the desk/);
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await context.clearCookies();
    provider.person = 'u-ada';
    await button(page, 'Single sign-on').click();
    await goTo(page, 'Accounts');
    await button(page, 'New account').waitFor();
    // The portal is for subscribers: it has no such button.
    await page.goto(`${system.url}/portal`);
    await button(page, 'Sign in').waitFor();
    assert.equal(await button(page, 'Single sign-on').count(), 0);
    await page.close();
  });
});
