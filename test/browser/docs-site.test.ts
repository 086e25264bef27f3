import { deepEqual, match, ok, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { folderOfEach } from '../support/folder.js';
import { openTab, sharedBrowser } from './chromium.js';

const SITE = 'tools/docs-site/dist';
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** It takes half a minute: packages are installed, a hundred pages made, and all their links followed. */
describe('the documentation as a site [world]', () => {
  const inFolder = folderOfEach();
  const check = (folder: string) =>
    execFileSync(process.execPath, ['tools/docs-site/check-links.mjs', folder], {
      encoding: 'utf8',
      stdio: 'pipe',
    });

  before(() => {
    execFileSync('npm', ['run', '--silent', 'docs:site'], { stdio: 'pipe' });
  });

  it('has every page, and the files that pages lead to', () => {
    const files = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    );
    for (const file of files) {
      const name = file.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');
      ok(existsSync(join(SITE, 'docs', name)), name);
    }
    for (const name of ['index.html', 'CHANGELOG.html', 'LICENSE.txt', 'docker-compose.yml'])
      ok(existsSync(join(SITE, name)), name);
  });

  it('has no link that leads nowhere: to a page, a heading or a picture', async () => {
    match(check(SITE), / 0 dead\.$/m);
    await cp(SITE, inFolder('site'), { recursive: true });
    const page = inFolder('site', 'docs', 'faq.html');
    const html = await readFile(page, 'utf8');
    for (const dead of ['href="./nowhere.html"', 'href="./reference.html#nowhere"', 'src="/nowhere.png"']) {
      await writeFile(page, html.replace('</body>', `<a ${dead}></a></body>`));
      throws(() => check(inFolder('site')), /dead link in docs\/faq\.html: \S*nowhere/);
    }
  });

  it('shows the same code in several languages as tabs', () => {
    const html = readFileSync(join(SITE, 'docs/tasks/producer.html'), 'utf8');
    match(html, /vp-code-group[\s\S]*>curl<[\s\S]*>TypeScript<[\s\S]*>Python<[\s\S]*>Go</);
  });

  it('is searched in the browser', async function () {
    const browser = await sharedBrowser(this);
    const server = createServer((request, response) => {
      const file = join(SITE, decodeURIComponent(new URL(request.url ?? '', 'http://site').pathname));
      if (!existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      return response.end(readFileSync(file));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { context, page, errors } = await openTab(browser);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/faq.html`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('.VPLocalSearchBox input').fill('legacy_header_prefix');
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Headers of deliveries' }).waitFor();
    deepEqual(errors, []);
    await context.close();
    server.close();
  });
});
