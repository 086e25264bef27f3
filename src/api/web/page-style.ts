import { readFileSync } from 'node:fs';

/** What the build of the web application makes of its colours and `pages.css`, for pages that have no script. */
const FILE = new URL('../../../web/dist/pages.css', import.meta.url);

let style: string | undefined;

/** The style of pages that stand alone, such as the login: the web application's own. None if that has not been built. */
export function pageStyle(): string {
  try {
    style ??= readFileSync(FILE, 'utf8');
  } catch {
    style = '';
  }
  return style;
}
