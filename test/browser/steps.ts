import type { Locator, Page } from 'playwright-core';
import type { Stage } from './stage.js';

/** Steps of people on every page. */
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

/** Waits until a page says something. */
export const says = (page: Page | Locator, text: string | RegExp) => page.getByText(text).first().waitFor();

/** A button of the dialog that is open. */
export const inDialog = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true });

/** Clicks before the page can show that it has been clicked. */
export const clickTwiceAtOnce = (locator: Locator) =>
  locator.evaluate((element) => {
    const shown = element as unknown as { click(): void };
    shown.click();
    shown.click();
  });

/** Opens a page of the navigation. */
export const goTo = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name }).click();

/** Signs in as people do with a key. */
export async function pasteKey(
  { system }: Pick<Stage, 'system'>,
  page: Page,
  role: 'portal' | 'desk',
  key: string,
): Promise<void> {
  await page.goto(`${system.url}/${role}`);
  await page.getByLabel('API key').fill(key);
  await button(page, 'Sign in').click();
  await page.getByRole('navigation').waitFor();
}
