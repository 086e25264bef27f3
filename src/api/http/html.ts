import { createHash } from 'node:crypto';

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * A whole page: no scripts, usable by keyboard and screen reader, in light and dark.
 *
 * @param site what the page belongs to, for its title
 */
export function renderHtmlPage(title: string, style: string, body: string, site = 'Hookline'): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(`${title} · ${site}`)}</title>
<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`;
}

/**
 * What such a page may do: its own style, and forms to here.
 *
 * @param options `formTarget`: an origin that a form may lead to besides, because browsers check the redirect that follows a form, too; `pictures`:
 * the origin that pictures may come from
 */
export function pagePolicy(
  style: string,
  { formTarget, pictures }: { formTarget?: string | undefined; pictures?: string | undefined } = {},
): string {
  const hash = createHash('sha256').update(style).digest('base64');
  const forms = formTarget ? `'self' ${formTarget}` : "'self'";
  const images = pictures ? `img-src ${pictures}; ` : '';
  return `default-src 'none'; style-src 'sha256-${hash}'; ${images}form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
}
