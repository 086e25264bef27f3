import { createHash } from 'node:crypto';

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A whole page: no scripts, nothing from elsewhere, usable by keyboard and screen reader, in light and dark. */
export function renderHtmlPage(title: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} · Hookline</title>
<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`;
}

/**
 * What such a page may do: its own style, and forms to here.
 *
 * @param formTarget an origin that a form may lead to besides: browsers check the redirect that follows a form, too
 */
export function pagePolicy(style: string, formTarget?: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  const forms = formTarget ? `'self' ${formTarget}` : "'self'";
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
}
