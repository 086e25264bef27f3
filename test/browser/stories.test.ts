import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { newPerson } from '../support/oauth.js';
import { type Receiver, reply, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { findBarriers, openTab, sharedBrowser } from './chromium.js';
import { purchaseOf, type Stage, startStage, unavailable, verified } from './stage.js';
import { button, goTo, inDialog, pasteKey, says } from './steps.js';

/** The box for everything. */
const SEARCH = /^Find by id/;

describe('in a browser', () => {
  let stage: Stage;
  let browser: Browser;
  let receiver: Receiver;
  before(async function () {
    [browser, stage, receiver] = await Promise.all([sharedBrowser(this), startStage(), startReceiver()]);
  });
  after(async () => {
    await stage?.stop();
    await receiver?.close();
  });

  const portalLink = async (accountId: string): Promise<{ id: string; url: string }> => {
    const path = `/v18.0/accounts/${accountId}/portal_sessions`;
    const body = { name: 'Ada at Acme', return_url: 'https://app.acme.example/webhooks' };
    return (await stage.operator.request('POST', path, { body })).json;
  };

  it('a subscriber registers an endpoint, sees why a delivery failed, retries it, and rotates the secret', async () => {
    const tab = await openTab(browser);
    const { page } = tab;
    const link = await portalLink(stage.shop.accountId);
    await page.goto(link.url);
    await says(page, 'Ada at Acme');
    assert.doesNotMatch(page.url(), /token|hlps_/);
    assert.doesNotMatch(await page.evaluate<string>('document.cookie'), /hlps_/);

    // Register. The URL is checked while it is typed, and then asked whether it wants events.
    receiver.handle(reply(503));
    await goTo(page, 'Endpoints');
    await page.getByRole('link', { name: 'Register an endpoint' }).click();
    await page.getByLabel('URL').fill('http://example.com');
    await says(page, 'Over plain http anybody on the way can read');
    await page.getByLabel('URL').fill(`${receiver.url}/invoices`);
    await page.getByLabel('Description').fill('Invoices');
    await page.getByLabel('All, also those to come').uncheck();
    await page.getByLabel('purchase', { exact: true }).check();
    await page.getByLabel('Filter').fill('{"path": "/total", "at_least": 100}');
    await says(page, 'This event would not be delivered.');
    await says(page, '/total at_least 100: the payload has 12.5');
    await page.getByLabel('Filter').fill('{"path": "/total", "at_least": 1}');
    await says(page, 'This event would be delivered.');
    await button(page, 'Count over the last day').click();
    await says(page, 'events of the last day would have been delivered.');
    await button(page, 'Register').click();
    await says(page, 'Waiting for the endpoint to be verified.');
    assert.match(page.url(), /\/portal\/endpoints\/ep_\w+\?registered=true&/);
    await receiver.waitFor((requests) => requests.length > 0);
    receiver.handle(verified(unavailable('The ledger is locked.')));
    // It may have been asked again by itself meanwhile.
    const asks = button(page, 'Ask again now').click();
    await Promise.race([asks.catch(() => {}), says(page, 'It receives events from now on.')]);
    await says(page, 'It receives events from now on.');

    // An event fails. The page says why, and what comes next.
    await stage.shop.purchase(purchaseOf(2001));
    await page.getByLabel(SEARCH).fill('order-2001');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'Invoices' });
    await row.getByText('Retrying').waitFor();
    await row.getByRole('link', { name: 'purchase' }).click();
    await says(page, 'The ledger is locked.');
    await says(page, 'Not delivered yet: 1 attempt so far.');
    await says(page, /Attempt 1 got a 503 response/);
    const next = page.getByText(/^Next attempt/).last();
    assert.match(await next.innerText(), /Next attempt in/);

    // It is mended, and tried again by hand.
    receiver.handle(verified(reply(200)));
    await button(page, 'Retry now').click();
    await says(page, 'Delivered after 2 attempts.');
    assert.equal(await button(page, 'Retry now').count(), 0);

    // The secret is rotated to a key pair, for which no code of v1 is shown, and back: that verifies what comes next.
    await page.getByRole('link', { name: 'Invoices' }).first().click();
    await page.getByRole('tab', { name: 'Secret and code' }).click();
    for (const [scheme, key] of Object.entries({ v1a: 'public key', v1: 'secret' })) {
      await button(page, 'Rotate…').click();
      await page.getByLabel('not at all').check();
      await page.getByLabel('Signature').selectOption(scheme);
      await inDialog(page, 'Rotate').click();
      await says(page, `checks the signature with this ${key}`);
      await button(page, `Hide the ${key}`).click();
      await says(page, scheme === 'v1' ? 'npm install standardwebhooks' : 'Verify them with the public key');
    }
    await button(page, 'Show the secret').click();
    const secret = await page.getByText(/^whsec_\S+$/).innerText();
    const count = receiver.received.length;
    await button(page, 'Send a test event').click();
    await says(page, 'Delivered after 1 attempt.');
    const last = receiver.received[count];
    new Webhook(secret).verify(last?.body ?? '', last?.headers ?? {});

    // The link is ended: the page notices, forgets the token, and says where to get another link.
    const session = `/v18.0/accounts/${stage.shop.accountId}/portal_sessions/${link.id}`;
    await stage.operator.request('DELETE', session);
    await goTo(page, 'Endpoints');
    await says(page, 'Your link has expired');
    assert.equal(await page.evaluate('localStorage.getItem("hookline.portal")'), null);
    const stranger = await openTab(browser);
    await stranger.page.goto(link.url);
    await says(stranger.page, 'Your link has expired');
    await stranger.page.reload();
    for (const one of [page, stranger.page]) {
      await says(one, 'Your link has expired');
      const back = one.getByRole('alert').getByRole('link');
      assert.equal(await back.getAttribute('href'), 'https://app.acme.example/webhooks');
      assert.equal(await one.getByLabel('API key').isVisible(), false);
    }
    assert.deepEqual(await findBarriers(stranger), []);
    await stranger.context.close();

    // Somebody else who signs in now sees nothing of it, not even for a moment.
    await page.evaluate(`globalThis.wasSeen = false; new MutationObserver(() => {
      if (/Invoices|Warehouse/.test(document.body.innerText)) globalThis.wasSeen = true;
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    await page.getByText('Sign in another way').click();
    await page.getByLabel('API key').fill(stage.stranger.key);
    await button(page, 'Sign in').click();
    await says(page, 'No endpoints yet');
    assert.equal(await page.evaluate<boolean>('globalThis.wasSeen'), false);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('an operator finds what fails in an account, and retries it all after a dry run [world]', async () => {
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await goTo(page, 'Accounts');
    await page.getByRole('link', { name: 'Acme Shop' }).click();
    await page.getByRole('link', { name: 'Act for this account' }).click();
    await says(page, 'You act for');
    await goTo(page, 'Incidents');
    await says(page.getByRole('row').filter({ hasText: 'Loyalty points' }), 'got a 503 response');

    await page.getByLabel(SEARCH).fill('order_id:order-1002');
    await page.keyboard.press('Enter');
    await page
      .getByRole('row')
      .filter({ hasText: 'Loyalty points' })
      .getByRole('link', { name: 'purchase' })
      .click();
    const temporal = await page.getByRole('link', { name: 'Open in Temporal UI' }).getAttribute('href');
    assert.match(
      String(temporal),
      /^http:\/\/127\.0\.0\.1:8233\/namespaces\/hookline-test\/workflows\/\S+\/history$/,
    );

    stage.failing.handle(verified(reply(200)));
    await goTo(page, 'Incidents');
    await page
      .getByRole('row')
      .filter({ hasText: 'Loyalty points' })
      .getByRole('link', { name: 'Retry them' })
      .click();
    await button(page, 'Dry run').click();
    await says(page, /It would act on \d+ deliveries\./);
    assert.equal(
      stage.failing.received.filter(({ answered }) => answered === 200).length,
      1,
      'only the verification',
    );
    await page.getByLabel('Reason, recorded with it').fill('Loyalty points answer again.');
    await button(page, /^Do it/).click();
    await says(page, 'Finished');
    await goTo(page, 'Changes');
    await says(page, 'Loyalty points answer again.');
    await page.getByRole('region', { name: 'The account that you act for' }).getByRole('link').click();
    await page.getByText('You act for').waitFor({ state: 'detached' });
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('a subscriber makes a test inbox, and sees what arrives at it, verified [world]', async () => {
    const { page, context } = await openTab(browser);
    await page.goto((await portalLink(stage.shop.accountId)).url);
    await goTo(page, 'Endpoints');
    await button(page, 'Make a test inbox').click();
    await says(page, 'Nothing has arrived yet');
    await stage.shop.purchase(purchaseOf(6001));
    for (const shown of ['Signature verified', 'order-6001']) await says(page, shown);
    await context.close();
  });

  it('an operator sees all accounts at once, and answers what happened to an order with one search [world]', async () => {
    // Before it: nothing of it is delivered, however soon the endpoint is verified.
    const event = await stage.stranger.purchase(purchaseOf(5001));
    const birch = await stage.stranger.register(`${stage.failing.url}/birch`, {
      description: 'Birch shelves',
    });
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await says(page, 'All accounts: what waits');
    await goTo(page, 'Endpoints');
    const row = page.getByRole('row').filter({ hasText: 'Birch shelves' });
    await row.getByRole('button', { name: 'Birch Books' }).waitFor();
    assert.deepEqual(await findBarriers(tab), []);

    const isNamed = (url: URL) => url.searchParams.get('account') === stage.stranger.accountId;
    // One key goes to the search; a bare number is enough, and the address then names the account.
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('order-5001');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'purchase' }).waitFor();
    await says(page, event.id);
    await page.waitForURL(isNamed);
    await says(page, 'You act for');

    // A colleague who opens the link, or one that names no account, sees the same.
    await page.goto(page.url().split('?')[0] ?? '');
    await page.getByRole('heading', { name: 'purchase' }).waitFor();
    await page.waitForURL(isNamed);

    // The choice above narrows any list down to an account, and back.
    await goTo(page, 'Endpoints');
    await page.getByRole('link', { name: 'Birch shelves' }).waitFor();
    assert.equal(await page.getByText('Warehouse').count(), 0);
    await page.getByLabel('Account', { exact: true }).selectOption('All accounts');
    await page.getByRole('link', { name: 'Warehouse' }).waitFor();
    await stage.stranger.request('DELETE', `/v18.0/endpoints/${birch.id}`);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('two accounts never see each other, also in one tab after another [world]', async () => {
    const { json } = await stage.shop.request('GET', '/v18.0/deliveries?limit=1');
    const path = `/portal/deliveries/${json.data[0].id}`;
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'portal', stage.shop.key);
    await page.goto(stage.system.url + path);
    await says(page, 'ada@example.com');
    await button(page, 'Sign out').click();
    await page.getByLabel('API key').fill(stage.stranger.key);
    await button(page, 'Sign in').click();
    await says(page, 'Nothing has been delivered yet');
    await page.goto(stage.system.url + path);
    await says(page, 'There is no delivery');
    await page.goto(`${stage.system.url}${path}?account=${stage.shop.accountId}`);
    await says(page, 'This link is about another account');
    await page.getByRole('link', { name: 'go to your own deliveries' }).click();
    assert.doesNotMatch(await page.locator('body').innerText(), /ada@example\.com|Acme|Loyalty/);
    await goTo(page, 'Endpoints');
    await says(page, 'No endpoints yet');
    await goTo(page, 'Deliveries');
    await says(page, 'Nothing has been delivered yet');
    assert.doesNotMatch(await page.locator('body').innerText(), /Acme|Loyalty|Warehouse/);
    await tab.context.close();
  });

  it('a link replaces no session without a question that names its account, and signs in to the portal alone [world]', async () => {
    const tab = await openTab(browser);
    const { page } = tab;
    const stored = () => page.evaluate<string>('JSON.stringify([sessionStorage, localStorage])');
    // A key in a link signs nobody in, and no link signs in to the desk; neither stays in the address.
    const { url } = await portalLink(stage.stranger.accountId);
    const token = url.split('#')[1] ?? '';
    for (const link of [
      `/portal#token=${stage.stranger.key}`,
      `/desk#${token}`,
      `/desk#token=${stage.operator.key}`,
    ]) {
      await page.goto('about:blank');
      await page.goto(stage.system.url + link);
      await page.getByLabel('API key').waitFor();
      assert.doesNotMatch(page.url(), /token/);
      assert.doesNotMatch(await stored(), /hlk_|hlps_/);
    }

    // Who is signed in is asked, also where the page is open already, and stays unless they say otherwise.
    await pasteKey(stage, page, 'portal', stage.shop.key);
    await says(page, 'Acme Shop');
    await page.evaluate(`location.hash = ${JSON.stringify(token)}`);
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('Birch Books').waitFor();
    await dialog.getByText('Acme Shop').waitFor();
    assert.doesNotMatch(page.url(), /token/);
    assert.deepEqual(await findBarriers(tab), []);
    await inDialog(page, 'Cancel').click();
    await dialog.waitFor({ state: 'detached' });
    assert.ok((await stored()).includes(stage.shop.key) && !/hlps_/.test(await stored()));
    await page.evaluate(`location.hash = ${JSON.stringify(token)}`);
    await dialog.getByText('Birch Books').waitFor();
    await inDialog(page, 'Use the link').click();
    await says(page, 'Ada at Acme');
    await goTo(page, 'Endpoints');
    await says(page, 'No endpoints yet');

    // The client that people log in through is asked about in the same way.
    await button(page, 'Sign out').click();
    await page.goto(`${stage.system.url}/portal?client=client_own`);
    await page.getByLabel('Client id').waitFor();
    await page.goto(`${stage.system.url}/portal?client=client_other`);
    await dialog.getByText('client_other').waitFor();
    await inDialog(page, 'Cancel').click();
    assert.match(await stored(), /client_own/);
    assert.doesNotMatch((await stored()) + page.url(), /client_other/);
    await tab.context.close();
  });

  it('a person logs in by name and password, and allows the portal what it asks [world]', async () => {
    const redirect_uris = [`${stage.system.url}/portal/signed-in`];
    const reads = ['deliveries:read', 'endpoints:read'];
    const scopes = [...reads, 'deliveries:write', 'endpoints:write', 'secrets:read'];
    const client = await stage.shop.request('POST', '/v18.0/oauth_clients', {
      body: {
        name: 'Portal',
        redirect_uris,
        scopes,
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
    });
    assert.equal(client.status, 201, client.text);
    const person = await newPerson(stage.system, stage.shop, reads);
    const tab = await openTab(browser);
    const { page } = tab;
    await page.goto(`${stage.system.url}/portal?client=${client.json.id}`);
    await button(page, 'Continue to log in').click();
    await page.getByLabel('Name').fill(person.loginName);
    await page.getByLabel('Password').fill('a wrong password');
    await button(page, 'Log in').click();
    await page.getByRole('alert').waitFor();
    assert.deepEqual(await findBarriers(tab), []);
    await page.getByLabel('Password').fill(person.password);
    await button(page, 'Log in').click();
    await page.getByRole('heading', { name: 'Allow Portal?' }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findBarriers(tab), []);
    await button(page, 'Allow').click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await goTo(page, 'Endpoints');
    await page.getByRole('heading', { name: 'Endpoints', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Warehouse' }).waitFor();
    // It may read, and so nothing is offered that writes.
    assert.equal(await page.getByRole('link', { name: 'Register an endpoint' }).count(), 0);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('everything is reached by keyboard, dialogs hold the focus, and colours can be chosen', async () => {
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'portal', stage.shop.key);
    await page.goto(`${stage.system.url}/portal/endpoints/${stage.ids.warehouse}`);
    await button(page, 'Pause…').waitFor();
    /** Waits for it: the page moves the focus a moment later. */
    const hasFocus = (element: string, text = '') =>
      page.locator(`${element}:focus`).filter({ hasText: text }).waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
    await hasFocus('a', 'Skip to the content');
    await page.keyboard.press('Enter');
    await hasFocus('#main');
    await button(page, 'Pause…').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Pause Warehouse?' });
    await dialog.waitFor();
    // A dialog takes the focus a frame after it is shown, and takes it back a frame after it has left the last button.
    const dialogHasFocus = () => page.locator('[role=alertdialog]:focus-within').waitFor();
    await dialogHasFocus();
    for (let key = 0; key < 6; key += 1) {
      await page.keyboard.press('Tab');
      await dialogHasFocus();
    }
    assert.deepEqual(await findBarriers(tab), []);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await hasFocus('button', 'Pause…');

    await button(page, /^Theme/).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    const isDark = () =>
      until(
        () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor'),
        (color) => color === 'rgb(13, 15, 19)',
      );
    await isDark();
    await page.reload();
    await button(page, 'Pause…').waitFor();
    await isDark();
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });
});
