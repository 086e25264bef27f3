import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { atEnd } from '../support/at-end.js';
import { WAIT_LIMIT_MS } from '../support/until.js';

/** The shell is Chromium without the interface that nobody sees here: its tabs cost a fifth. */
const NAMES = [
  'chromium-headless-shell',
  ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
];
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The Chromium of this machine: the one that `CHROMIUM` names, or one on `PATH`. */
function findChromium(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const paths = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return paths.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let shared: Promise<Browser> | undefined;

/**
 * The Chromium that all tests of this process share, with a profile of its own; it calls nobody by itself. Each tab
 * knows nothing of others. Where there is none, the tests are left out, before anything is started for them.
 */
export function sharedBrowser(tests: Mocha.Context): Promise<Browser> {
  if (!shared) {
    const executablePath = findChromium();
    if (!executablePath) return tests.skip();
    const launched = chromium.launch({ executablePath, args: FLAGS });
    atEnd(async () => (await launched).close());
    shared = launched;
  }
  return shared;
}

/** A tab of a browser that knows nothing yet. */
export interface Tab {
  context: BrowserContext;
  page: Page;
  /** Errors in it: of scripts, and refusals of the page's policy. */
  errors: string[];
}

/** @param locale the language and region of who reads in it */
export async function openTab(browser: Browser, locale = 'en-GB'): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    // Colours are checked as they are, not on their way.
    reducedMotion: 'reduce',
    locale,
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Chromium tells of each answer that is an error; the pages show those that matter.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  return { context, page, errors };
}

/**
 * Barriers that axe finds on a page, for people who use a keyboard or a screen reader, or see little contrast. It is
 * put into the page past its policy, as the browser's own tools are.
 *
 * @param only the rules to check; by default all
 */
export async function findBarriers({ context, page }: Tab, only?: string[]): Promise<string[]> {
  const session = await context.newCDPSession(page);
  try {
    await session.send('Runtime.evaluate', { expression: AXE });
    // What is pressed has 24 px, or room around it (WCAG 2.2, 2.5.8); axe leaves that out unless it is asked for.
    const rules = { 'target-size': { enabled: true } };
    const options = JSON.stringify({ resultTypes: ['violations'], rules, ...(only && { runOnly: only }) });
    const expression = `axe.run(document, ${options}).then(({ violations }) =>
      JSON.stringify(violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' ')))))`;
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return JSON.parse(String(result.value));
  } finally {
    await session.detach();
  }
}
