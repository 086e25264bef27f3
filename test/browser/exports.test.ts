import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type { Scope } from '../../src/domain/access/api-key.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { recorded } from '../support/parts/records.js';
import { promised } from '../support/promised.js';
import { until } from '../support/until.js';
import { findBarriers, openTab, sharedBrowser } from './chromium.js';
import { type Stage, startStage } from './stage.js';
import { button, says } from './steps.js';

/** A way to the server on which the first export stops within a line, until it is let go of, and then breaks off. */
interface Breaking {
  url: string;
  /** Requests: the cursor, and the account. */
  asked: { after: string | null; account: unknown }[];
  breakOff(): void;
  server: Server;
}

async function startBreaking(target: string, bytes: number): Promise<Breaking> {
  const asked: Breaking['asked'] = [];
  const { promise: broken, resolve: breakOff } = promised();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', target);
    const { authorization = '', 'hookline-account': account } = request.headers;
    const headers = {
      authorization,
      ...(account !== undefined && { 'hookline-account': String(account) }),
    };
    const answer = await fetch(url, { headers });
    const body = Buffer.from(await answer.arrayBuffer());
    const kept = ['content-type', 'content-security-policy'].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(answer.status, Object.fromEntries(kept));
    const isExport = url.pathname === '/v18.0/exports';
    if (isExport) asked.push({ after: url.searchParams.get('after'), account });
    if (!isExport || asked.length > 1) {
      response.end(body);
      return;
    }
    response.write(body.subarray(0, bytes));
    await broken;
    response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, breakOff, server };
}

/** As in browsers that cannot write to disk by themselves. */
const WITHOUT_PICKER = 'delete Window.prototype.showSaveFilePicker; delete window.showSaveFilePicker;';
/** The file that the person chooses is a real one, in the folder that the browser keeps for the page. */
const PICKER = `window.showSaveFilePicker = async ({ suggestedName }) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });`;

describe('an export in a browser [world]', () => {
  let stage: Stage;
  let browser: Browser;
  let whole: string;
  before(async function () {
    [browser, stage] = await Promise.all([sharedBrowser(this), startStage()]);
    const { shop, ids, system } = stage;
    const path = `/v18.0/deliveries?endpoint_id=${ids.warehouse}&status=delivered&limit=100`;
    const rows: { id: string }[] = await until(
      async () => (await shop.request('GET', path)).json.data,
      ({ length }) => length >= 4,
    );
    const delivered = rows.map(({ id }) => id);
    await recorded(system, shop, delivered);
    whole = (await shop.request('GET', `/v18.0/exports?${new URLSearchParams(PERIOD)}`)).text;
    assert.ok(whole.split('\n').length > 5, whole);
  });
  after(() => stage?.stop());

  const PERIOD = { from: '2026-01-01T11:00:00.000Z', to: '2099-01-01T11:00:00.000Z' };
  const ADDRESS = `/desk/exports?${new URLSearchParams(PERIOD)}`;
  /** The same for an operator, who acts for the account. */
  const ofShop = () => `${ADDRESS}&account=${stage.shop.accountId}`;
  /** A tab of a token. */
  const signIn = async (token: string, script: string) => {
    const tab = await openTab(browser);
    const session = JSON.stringify({ session: { token }, until: 4e12 });
    await tab.context.addInitScript({
      content: `if (!localStorage.getItem('hookline.desk')) localStorage.setItem('hookline.desk', ${JSON.stringify(session)}); ${script}`,
    });
    return tab;
  };
  const download = async (page: Page): Promise<string> => {
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    assert.equal(file.suggestedFilename(), 'hookline-2026-01-01-to-2099-01-01.ndjson');
    return readFileSync(await file.path(), 'utf8');
  };

  it('is of the period that the address names, in the reader’s zone, and can be changed there', async () => {
    const tab = await signIn(stage.shop.key, WITHOUT_PICKER);
    const { page } = tab;
    await page.goto(stage.system.url + ADDRESS);
    const from = page.getByLabel('From', { exact: true });
    assert.equal(await from.inputValue(), '2026-01-01T12:00');
    await says(page, 'at most 512 MiB');
    assert.equal(await download(page), whole);
    await says(page, /^All of it: \d+ lines/);
    assert.deepEqual(await findBarriers(tab), []);

    await from.fill('2099-02-01T12:00');
    await says(page, 'Must be later than From.');
    await page.getByLabel('To', { exact: true }).fill('2099-03-01T12:00');
    await button(page, 'Download').click();
    await says(page, 'Nothing is kept of this period.');
    assert.equal(new URL(page.url()).searchParams.get('to'), '2099-03-01T11:00:00.000Z');
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  it('goes on where it broke off, for the same account', async () => {
    const way = await startBreaking(stage.system.url, Math.round(whole.length * 0.6));
    const tab = await signIn(stage.operator.key, WITHOUT_PICKER);
    const { page } = tab;
    await page.goto(way.url + ofShop());
    await says(page, 'You act for');
    const file = download(page);
    await says(page, /^\d+ lines, .*, up to/);
    assert.ok(await button(page, 'Download').isDisabled());
    way.breakOff();
    assert.equal(await file, whole);
    const [first, second] = way.asked;
    assert.equal(way.asked.length, 2);
    assert.equal(first?.after, null);
    assert.match(second?.after ?? '', /^(evt|dlv)_/);
    assert.equal(second?.account, stage.shop.accountId);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
    way.server.close();
  });

  it('is written to disk as it comes where the browser can, and stopping it keeps nothing', async () => {
    const way = await startBreaking(stage.system.url, Math.round(whole.length * 0.6));
    const tab = await signIn(stage.operator.key, PICKER);
    const { page } = tab;
    const written = () =>
      page.evaluate<string>(`(async () => {
        const folder = await navigator.storage.getDirectory();
        const handle = await folder.getFileHandle('hookline-2026-01-01-to-2099-01-01.ndjson');
        return (await handle.getFile()).text();
      })()`);
    await page.goto(way.url + ofShop());
    await says(page, 'so it can have any size');
    await button(page, 'Download').click();
    await says(page, /^\d+ lines, .*, up to/);
    await button(page, 'Stop').last().click();
    await says(page, 'Nothing of it was kept.');
    assert.equal(await written(), '');
    await button(page, 'Download').click();
    await says(page, /^All of it: \d+ lines/);
    assert.equal(await written(), whole);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
    way.breakOff();
    way.server.close();
  });

  it('is refused without the scope and to a portal link, and another account finds nothing of it', async () => {
    const key = async (scopes: readonly Scope[]) =>
      (await stage.system.database.apiKeys.create(stage.shop.accountId, 'for a test', scopes, OPERATOR)).key;
    const path = `/v18.0/accounts/${stage.shop.accountId}/portal_sessions`;
    const link = await stage.operator.request('POST', path, { body: {} });
    for (const [token, answer] of [
      [await key(['endpoints:read']), 'needs the scope deliveries:read'],
      [link.json.token, 'A portal session may not do this.'],
      [stage.stranger.key, 'Nothing is kept of this period.'],
    ]) {
      const tab = await signIn(token, WITHOUT_PICKER);
      await tab.page.goto(stage.system.url + ADDRESS);
      await button(tab.page, 'Download').click();
      await says(tab.page, answer);
      await tab.context.close();
    }
  });
});
