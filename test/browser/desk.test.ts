import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { PLATFORM_SCOPES, type Scope } from '../../src/domain/access/api-key.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { type ApiClient, apiClient } from '../support/api-client.js';
import { until } from '../support/until.js';
import { findBarriers, openTab, sharedBrowser } from './chromium.js';
import { purchaseOf, type Stage, startStage } from './stage.js';
import { button, clickTwiceAtOnce, goTo, inDialog, pasteKey, says } from './steps.js';

describe('at the desk', () => {
  let stage: Stage;
  let browser: Browser;
  before(async function () {
    [browser, stage] = await Promise.all([sharedBrowser(this), startStage()]);
  });
  after(() => stage?.stop());

  /** A new account of the installation, with all that an account's own key may do. */
  const account = async (name: string): Promise<ApiClient> => {
    const { json } = await stage.operator.request('POST', '/v18.0/accounts', { body: { name } });
    return apiClient(stage.system.url, { accountId: json.id, key: json.api_key.key, keyId: json.api_key.id });
  };
  /** Another key of an account. */
  const keyWith = async (accountId: string, scopes: readonly Scope[]): Promise<string> =>
    (await stage.system.database.apiKeys.create(accountId, 'for a test', scopes, OPERATOR)).key;

  /** Signs the operator in, and acts for an account. */
  const actFor = async (page: Page, { accountId }: ApiClient) => {
    await page.goto(`${stage.system.url}/desk`);
    await page.evaluate('localStorage.clear()');
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await page.goto(`${stage.system.url}/desk/accounts/${accountId}`);
    await page.getByRole('link', { name: 'Act for this account' }).click();
    await says(page, 'You act for');
  };

  it('an operator makes a key for an account, which is shown once, and revokes it', async () => {
    const cedar = await account('Cedar Crafts');
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await page.goto(`${stage.system.url}/desk/accounts/${cedar.accountId}`);
    await page.getByRole('tab', { name: 'API keys' }).click();
    assert.match(page.url(), /\?tab=keys$/);
    await says(page, 'first key');

    await button(page, 'New key').click();
    assert.ok(await inDialog(page, 'Create').isDisabled());
    // What an operator may do with accounts is not theirs to give on behalf of one.
    assert.equal(await page.getByLabel('admin', { exact: true }).count(), 0);
    await page.getByLabel('Name').fill('Till');
    await page.getByLabel('events:write').check();
    await page.getByLabel('It ends').selectOption('In 30 days');
    assert.deepEqual(await findBarriers(tab), []);
    await inDialog(page, 'Create').click();
    const shown = page.getByText(/^hlk_\S+$/);
    const key = await shown.innerText();
    await inDialog(page, 'I have kept it').click();
    await shown.waitFor({ state: 'detached' });

    const till = apiClient(stage.system.url, { accountId: cedar.accountId, key, keyId: '' });
    await till.purchase();
    assert.equal((await till.request('GET', '/v18.0/endpoints')).status, 403);
    const row = page.getByRole('row').filter({ hasText: 'Till' });
    await row.getByText('in 30 days').waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(key));

    await row.getByRole('button', { name: 'Revoke Till' }).click();
    await inDialog(page, 'Revoke').click();
    await row.getByText('Revoked').waitFor();
    assert.equal(await row.getByRole('button').count(), 0);
    const { json } = await cedar.request('GET', '/v18.0/changes');
    assert.deepEqual(
      json.data
        .slice(0, 2)
        .map(({ action, actor }: { action: string; actor: { id: string } }) => [action, actor.id]),
      [
        ['revoked', stage.operator.keyId],
        ['created', stage.operator.keyId],
      ],
    );
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('an operator deletes an account by its name, once however often the button is clicked, and sees it end [world]', async () => {
    const doomed = await account('Dune Diving');
    await doomed.register(`${stage.failing.url}/hooks`);
    const tab = await openTab(browser);
    const { page } = tab;
    let asked = 0;
    page.on('request', (request) => {
      if (request.method() === 'DELETE') asked += 1;
    });
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await page.goto(`${stage.system.url}/desk/accounts/${doomed.accountId}`);
    await button(page, 'Delete…').click();
    const act = inDialog(page, 'Delete the account');
    await page.getByLabel("Type the account's name or id").fill('Dune');
    assert.ok(await act.isDisabled());
    await page.getByLabel("Type the account's name or id").fill('Dune Diving');
    await page.getByLabel('Erase its payloads').check();
    assert.deepEqual(await findBarriers(tab), []);
    await clickTwiceAtOnce(act);
    await page.getByRole('heading', { name: /^It (is being|was) deleted$/ }).waitFor();
    assert.equal(await button(page, 'Make a link').count(), 0);
    assert.equal(await button(page, 'Delete…').count(), 0);
    assert.deepEqual(await findBarriers(tab), []);
    // The address shows the same to whoever opens it now.
    await page.reload();
    await page.getByRole('heading', { name: 'It was deleted' }).waitFor();
    assert.equal(asked, 1);
    await says(page, 'What it has on record can still be read, but for payloads.');
    assert.ok((await stage.system.database.accounts.get(doomed.accountId))?.erasure_requested_at);
    assert.equal((await doomed.request('GET', '/v18.0/endpoints')).status, 401);
    await page.getByRole('tab', { name: 'API keys' }).click();
    await says(page, 'Revoked');
    assert.equal(await button(page, 'New key').count(), 0);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('an operator erases a person for an account, sees it come to its end, and keeps the certificate [world]', async () => {
    const { shop } = stage;
    const event = await shop.purchase(purchaseOf(3001).replace('ada@', 'Bo@'));
    const tab = await openTab(browser);
    const { page } = tab;
    let posted = 0;
    const addresses: string[] = [];
    page.on('request', (request) => {
      addresses.push(request.url());
      if (request.url().endsWith('/subjects/erase')) posted += 1;
    });
    await actFor(page, shop);
    await goTo(page, 'Personal data');
    await says(page, 'Nothing was erased yet');
    await page.getByLabel('Person').fill('nobody@example.com');
    await button(page, 'Erase…').click();
    await inDialog(page, 'Erase').click();
    await page.getByRole('alert').getByText('no payload about this subject').waitFor();
    await inDialog(page, 'Cancel').click();

    // While deliveries are open it waits, if that is what was chosen.
    await page.getByLabel('Person').fill('bo@example.com');
    await page.getByLabel('Let them end first').check();
    await page.getByLabel('Reason').fill('request 4711');
    await button(page, 'Erase…').click();
    await page.getByRole('alertdialog').getByText('bo@example.com').waitFor();
    assert.deepEqual(await findBarriers(tab), []);
    await clickTwiceAtOnce(inDialog(page, 'Erase'));
    await says(page, 'It waits for open deliveries to end.');
    assert.equal(posted, 2, 'one for nobody, one for bo');
    await goTo(page, 'Personal data');
    const row = page.getByRole('row').filter({ hasText: /ers_/ });
    await row.getByText('Waiting').waitFor();
    await row.getByRole('link').first().click();

    // They end: the key is deleted, and the page at its address says so by itself.
    await Promise.all(
      event.deliveries.map(({ id }) => shop.request('POST', `/v18.0/deliveries/${id}/cancel`, { body: {} })),
    );
    await page.reload();
    await page.getByRole('status').getByText('The key is deleted, and nothing').waitFor();
    const id = /ers_\w+/.exec(page.url())?.[0] ?? '';
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download the certificate').click(),
    ]);
    assert.equal(download.suggestedFilename(), `erasure-${id}.json`);
    const certificate = JSON.parse(readFileSync(await download.path(), 'utf8'));
    assert.deepEqual(certificate, (await shop.request('GET', `/v18.0/erasures/${id}`)).json);
    assert.equal(certificate.status, 'complete');
    assert.equal(certificate.open, 'finish');
    await page.goto(`${stage.system.url}/desk/events/${event.id}`);
    await says(page, 'It was erased, with the key that opened it');
    // The person is named in nothing that stays.
    assert.doesNotMatch(
      await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, history.state])'),
      /bo@/i,
    );
    assert.doesNotMatch(addresses.join('\n'), /bo(@|%40)/i);
    assert.deepEqual(tab.errors, []);

    // Another account has no such erasure.
    await page.goto(`${stage.system.url}/desk/erasures/${id}?account=${stage.stranger.accountId}`);
    await page.getByRole('alert').getByText('There is no erasure').waitFor();
    await tab.context.close();
  });

  it('who may erase and not read certificates sees that of their own, and who may only read erases nothing [world]', async () => {
    const { shop } = stage;
    await shop.purchase(purchaseOf(3002).replace('ada@', 'cy@'));
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', await keyWith(shop.accountId, ['subjects:write']));
    await page.goto(`${stage.system.url}/desk/erasures`);
    await page.getByRole('alert').getByText('needs the scope changes:read').waitFor();
    await page.getByLabel('Person').fill('cy@example.com');
    await button(page, 'Erase…').click();
    await inDialog(page, 'Erase').click();
    await page.getByRole('heading', { name: 'Certificate' }).waitFor();
    await says(page, 'The key is deleted.');
    await button(page, 'Sign out').click();

    await page.getByLabel('API key').fill(await keyWith(shop.accountId, ['changes:read']));
    await button(page, 'Sign in').click();
    await goTo(page, 'Personal data');
    await says(page, /^ers_/);
    assert.equal(await page.getByLabel('Person').count(), 0);
    await tab.context.close();
  });

  it('what is left of the limits of requests is on the page of the account, down to nothing [world]', async () => {
    const small = await account('Fern Foods');
    const path = `/v18.0/accounts/${small.accountId}`;
    await stage.operator.request('PATCH', path, { body: { limits: { requests_per_minute: 20 } } });
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', stage.operator.key);
    await page.goto(`${stage.system.url}/desk/accounts/${small.accountId}`);
    const left = page.getByRole('main').getByText(/^\d+ of 20 left/);
    await left.waitFor();
    // What is counted for this account is not counted for others.
    await page.goto(`${stage.system.url}/desk/accounts/${stage.stranger.accountId}`);
    await page.getByText(/^[\d,]+ of 60,000 left/).waitFor();
    await page.goto(`${stage.system.url}/desk/accounts/${small.accountId}`);
    await left.waitFor();
    const headers = { 'hookline-account': small.accountId };
    await until(
      async () => {
        // A new minute may have begun.
        for (let sent = 0; sent < 20; sent += 1)
          if ((await stage.operator.request('GET', '/v18.0/session', { headers })).status === 429) break;
        return left.innerText();
      },
      (text) => text.startsWith('0 of 20 left, all again in '),
    );
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('an endpoint that "hookline listen" has made is marked in the list and on its page [world]', async () => {
    const hazel = await account('Hazel Hotels');
    await hazel.register(`${stage.failing.url}/hooks`, { description: 'Reception' });
    const { json } = await hazel.request('POST', '/v18.0/listeners', {
      body: { event_kinds: ['purchase'], description: 'Laptop of Ada' },
    });
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', hazel.key);
    await goTo(page, 'Endpoints');
    await page
      .getByRole('row')
      .filter({ hasText: 'Laptop of Ada' })
      .getByText('Listener', { exact: true })
      .waitFor();
    assert.equal(
      await page
        .getByRole('row')
        .filter({ hasText: 'Reception' })
        .getByText('Listener', { exact: true })
        .count(),
      0,
    );
    await page.getByRole('link', { name: 'Laptop of Ada' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('Listener', { exact: true }).waitFor();
    await hazel.purchase();
    await goTo(page, 'Deliveries');
    await page
      .getByRole('row')
      .filter({ hasText: 'Laptop of Ada' })
      .getByText('Listener', { exact: true })
      .waitFor();
    await hazel.request('DELETE', `/v18.0/endpoints/${json.id}`);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('offers nothing of an account to who may not: another platform, another account, a key without the scope [world]', async () => {
    const platform = await stage.system.database.accounts.create('Other platform', OPERATOR);
    const keys: [string, string][] = [
      [await keyWith(platform.id, PLATFORM_SCOPES), 'There is no account'],
      [stage.stranger.key, 'There is no account'],
      [await keyWith(stage.stranger.accountId, ['endpoints:read']), 'needs the scope keys:read'],
    ];
    for (const [key, answer] of keys) {
      const tab = await openTab(browser);
      const { page } = tab;
      await pasteKey(stage, page, 'desk', key);
      await page.goto(`${stage.system.url}/desk/accounts/${stage.shop.accountId}?tab=keys`);
      await page.getByRole('alert').getByText(answer).waitFor();
      assert.doesNotMatch(await page.getByRole('main').innerText(), /Acme|first key|Delete/);
      await tab.context.close();
    }
    // It may read its platform's account, and neither change that nor see its keys.
    const maker = apiClient(stage.system.url, {
      accountId: platform.id,
      key: await keyWith(platform.id, PLATFORM_SCOPES),
      keyId: '',
    });
    const { json } = await maker.request('POST', '/v18.0/accounts', { body: { name: 'Elm Elevators' } });
    const reads = PLATFORM_SCOPES.filter((scope) => !scope.startsWith('keys:'));
    const tab = await openTab(browser);
    const { page } = tab;
    await pasteKey(stage, page, 'desk', await keyWith(platform.id, reads));
    await page.goto(`${stage.system.url}/desk/accounts/${json.id}?tab=keys`);
    await page.getByRole('heading', { name: 'Elm Elevators' }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Act for this account' }).waitFor();
    assert.equal(await page.getByRole('tab', { name: 'API keys' }).count(), 0);
    for (const name of ['Delete…', 'Save the limits', 'Make a link'])
      assert.equal(await button(page, name).count(), 0, name);
    await tab.context.close();
  });
});
