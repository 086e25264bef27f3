import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Stylesheet that the build makes of the web application's colours and `pages.css`, for pages that have no script. */
const FILE = new URL('../../../web/dist/pages.css', import.meta.url);

let style: string | undefined;

/**
 * The style of pages that stand alone, such as the login: the web application's own. None if that has not been built.
 */
function pageStyle(): string {
  try {
    style ??= readFileSync(FILE, 'utf8');
  } catch {
    style = '';
  }
  return style;
}

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * A whole page: no scripts, usable by keyboard and screen reader, in light and dark.
 *
 * @param site what the page belongs to, for its title
 * @param style behind that of every page
 */
export function renderHtmlPage(title: string, body: string, site = 'Hookline', style = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(`${title} · ${site}`)}</title>
<style>${pageStyle()}${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`;
}

/**
 * Content security policy of such a page: its own style, and forms to this service.
 *
 * @param options `style`: behind that of every page; `formTarget`: an origin that a form may lead to besides, because
 * browsers check the redirect that follows a form, too; `pictures`: the origin that pictures may come from
 */
export function pagePolicy({
  style = '',
  formTarget,
  pictures,
}: {
  style?: string;
  formTarget?: string | undefined;
  pictures?: string | undefined;
} = {}): string {
  const hash = createHash('sha256')
    .update(pageStyle() + style)
    .digest('base64');
  const forms = formTarget ? `'self' ${formTarget}` : "'self'";
  const images = pictures ? `img-src ${pictures}; ` : '';
  return `default-src 'none'; style-src 'sha256-${hash}'; ${images}form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
}
