import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import type { ApiClient } from '../../support/api-client.js';
import { folderOfEach } from '../../support/folder.js';
import { recorded } from '../../support/parts/records.js';
import { inProcess } from '../../support/programs/command.js';
import { startCommand } from '../../support/programs/process.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const TEXT = readFileSync('docs/tasks/tutorial.md', 'utf8');
/** Has Express; `npm run test:all` makes it. */
const PACKAGES = process.env['TEST_SAMPLE_PACKAGES'] ?? '';

/** The code block after a sentence that names its file. */
function codeOf(file: string): string {
  const [, code = ''] =
    TEXT.match(new RegExp(`\`${file}\`[^\`]*(?:\`[^\`]+\`[^\`]*)*?:\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``)) ??
    [];
  ok(code, file);
  return code;
}

/** The commands of the page, as a reader types them, each to be run once. */
const commands = [...TEXT.matchAll(/^\$ npx hookline (.*)$/gm)].map(([, words = '']) => words);

describe('the tutorial [world]', () => {
  const inFolder = folderOfEach();
  let system: TestSystem;
  let client: ApiClient;
  const ends: (() => Promise<unknown>)[] = [];

  before(async function () {
    if (!existsSync(join(PACKAGES, 'node_modules', 'express'))) return this.skip();
    // The warehouse of the page has no TLS.
    system = await startSystem({ HOOKLINE_ALLOW_HTTP: 'true', HOOKLINE_ENDPOINT_VERIFICATION: 'required' });
    client = await system.account();
  });
  after(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await system?.stop();
  });

  const environment = () => ({ HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key });
  const run = async (words: string): Promise<string> => {
    // The shell's quotes: the page has them around the reason.
    const all = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
    const { exited, lines } = inProcess(all, environment());
    equal(await exited, 0, lines.join('\n'));
    return lines.join('\n');
  };

  it('goes from an order to its proof as its page says, each command once', async () => {
    const [listen, find, show, findAgain, resend, timeline, integrity, verify, create, ask, last] = commands;
    equal(commands.length, 11);
    const [shopPort, warehousePort] = [await freePort(), await freePort()];
    const here = (text: string) =>
      text
        .replaceAll('localhost:3000', `localhost:${warehousePort}`)
        .replace('listen(3000', `listen(${warehousePort}`)
        .replaceAll('localhost:4000', `localhost:${shopPort}`)
        .replace('listen(4000', `listen(${shopPort}`);
    await symlink(join(PACKAGES, 'node_modules'), inFolder('node_modules'));
    const start = async (file: string, code: string, more: Record<string, string>) => {
      await writeFile(inFolder(file), here(code));
      const child = spawn(process.execPath, [inFolder(file)], {
        env: { PATH: process.env['PATH'], ...more },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => void lines.push(line));
      const exited = once(child, 'close');
      const end = () => {
        child.kill();
        return exited;
      };
      ends.push(end);
      await until(
        () => lines,
        ([first]) => first !== undefined,
      );
      return { lines, end };
    };
    const order = async (sku: string, quantity: number) => {
      const response = await fetch(`http://localhost:${shopPort}/orders`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ sku, quantity }),
      });
      equal(response.status, 201);
      return (await response.json()) as { order_id: string; event: string };
    };

    const kind = await client.request('POST', '/v18.0/event_kinds', {
      body: JSON.parse(codeOf('kind.json')),
    });
    equal(kind.status, 201, kind.text);
    const listening = startCommand(here(listen ?? '').split(' '), environment());
    ends.push(() => {
      listening.signal('SIGINT');
      return listening.exited;
    });
    await until(
      () => listening.lines,
      (lines) => lines.includes('Connected.'),
    );
    const secretIn = (text: string) => text.match(/whsec_\S+/)?.[0] ?? '';
    const WEBHOOK_SECRET = secretIn(listening.lines.join('\n'));
    const code = codeOf('warehouse.mjs');
    const broken = await start('warehouse.mjs', code, { WEBHOOK_SECRET });
    await start('shop.mjs', codeOf('shop.mjs'), environment());

    const first = await order('notebook', 2);
    equal(first.order_id, '1001');
    await until(
      () => broken.lines,
      (lines) => lines.includes('Packing order 1001: 2 × notebook from A1'),
    );

    const second = await order('pencil', 5);
    const found = await until(
      () => run(find ?? ''),
      (text) => / retrying .*got a 500 response/.test(text),
    );
    const [id = ''] = found.match(/dlv_\w+/) ?? [];
    ok(id.includes(second.event.replace('evt_', '')));
    const own = (words: string | undefined, to = id) => (words ?? '').replace(/(dlv|ep)_\w+/, to);
    match(await run(own(show)), /^1 .* 500 +No shelf for pencil$/m);

    await broken.end();
    const [, shelves = ''] = TEXT.match(/(const SHELVES = .*pencil.*)/) ?? [];
    const mended = await start('warehouse.mjs', code.replace(/const SHELVES.*/, shelves), { WEBHOOK_SECRET });
    match(
      await until(
        () => run(findAgain ?? ''),
        (text) => / delivered /.test(text),
      ),
      /The endpoint responded with 2xx\.$/,
    );
    const packed = () =>
      mended.lines.filter((line) => line.startsWith('Packing order 1002: 5 × pencil from B2'));
    equal(packed().length, 1);

    match(await run(own(resend)), /^Sent again: dlv_/);
    const told = await until(
      () => run(own(timeline)),
      (text) => /Started again[\s\S]*closed/.test(text),
    );
    const steps = (text: string) => text.split('\n').map((line) => line.split(/ +/)[1] ?? '');
    const page = TEXT.split(`$ npx hookline ${timeline}\n`)[1]?.split('\n```')[0] ?? '';
    // On a busy machine it may fail so often before it is mended that its deliveries wait, and are released.
    deepEqual(new Set(steps(told).filter((step) => step !== 'released')), new Set(steps(page)));
    equal(packed().length, 1, 'nothing is packed twice');

    await recorded(system, client, [id]);
    const proof = await until(
      () => run(own(integrity)),
      (text) => text.startsWith('unaltered'),
    );
    match(proof, /^log +same[\s\S]*^payload +same/m);
    const certificate = await client.request('GET', `/v18.0/deliveries/${id}/certificate`);
    await writeFile(inFolder('certificate.json'), certificate.text);
    match(
      await run((verify ?? '').replace('certificate.json', inFolder('certificate.json'))),
      /^This proves that/,
    );

    const address = `http://localhost:${warehousePort}/webhooks`;
    const registered = await run((create ?? '').replace(/https:\S+/, address));
    const [endpointId = ''] = registered.match(/ep_\w+/) ?? [];
    await mended.end();
    await start('warehouse.mjs', code, { WEBHOOK_SECRET: secretIn(registered) });
    await run(own(ask, endpointId));
    await until(
      () => run(own(last, endpointId)),
      (text) => text.startsWith('active'),
    );
  });
});
