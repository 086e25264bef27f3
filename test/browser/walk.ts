import type { Browser, Page } from 'playwright-core';
import { openTab, type Tab } from './chromium.js';
import { button } from './steps.js';

/** The sizes at which people use the pages. */
export const SIZES = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 800 },
} as const;
export type Size = keyof typeof SIZES;

/** Counts what a person presses, whoever presses it: nothing on a page is reached past it. */
const COUNTER = `globalThis.presses = 0;
addEventListener('pointerdown', () => { globalThis.presses += 1; }, { capture: true });`;

/** A person with a task: signed in, at a size of screen. */
export interface Walk extends Tab {
  size: Size;
  /** Opens a page, from which the task begins: nothing has been pressed yet. */
  begin(address: string): Promise<void>;
  /** How often something was pressed since then. */
  presses(): Promise<number>;
  /** Opens a page by the navigation, which a phone folds into a menu. */
  goTo(name: string): Promise<void>;
}

/** @param session what the sign-in of the role would store */
export async function startWalk(
  browser: Browser,
  size: Size,
  role: 'portal' | 'desk',
  token: string,
): Promise<Walk> {
  const tab = await openTab(browser);
  const { page, context } = tab;
  await page.setViewportSize(SIZES[size]);
  const session = JSON.stringify({ session: { token }, until: 4e12 });
  await context.addInitScript({
    content: `localStorage.setItem('hookline.${role}', ${JSON.stringify(session)});\n${COUNTER}`,
  });
  return {
    ...tab,
    size,
    begin: async (address) => {
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    presses: () => page.evaluate<number>('globalThis.presses'),
    goTo: async (name) => {
      if (size === 'phone') await button(page, 'Menu').click();
      await navigation(page).getByRole('link', { name, exact: true }).click();
    },
  };
}

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
