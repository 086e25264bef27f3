import type { Settings } from '../../config/schema.js';
import { logoOrigin, type PortalLook } from '../../domain/look/portal-look.js';
import { shadesOf } from '../../domain/look/shades.js';
import { escapeHtml } from '../http/html.js';

type LookSettings = Pick<
  Settings,
  | 'HOOKLINE_PORTAL_NAME'
  | 'HOOKLINE_PORTAL_LOGO_URL'
  | 'HOOKLINE_PORTAL_COLOR'
  | 'HOOKLINE_PORTAL_LOGO_ORIGINS'
>;

/** How the portal and the OAuth pages of this installation look. */
export function portalLook(settings: LookSettings): PortalLook {
  const {
    HOOKLINE_PORTAL_NAME: name,
    HOOKLINE_PORTAL_LOGO_URL: logo_url,
    HOOKLINE_PORTAL_COLOR: color,
  } = settings;
  return { name, ...(logo_url !== undefined && { logo_url }), ...(color !== undefined && { color }) };
}

/** Where pictures of the portal may come from. */
export function logoOrigins({
  HOOKLINE_PORTAL_LOGO_URL: url,
  HOOKLINE_PORTAL_LOGO_ORIGINS: others,
}: LookSettings): string[] {
  const own = url === undefined ? undefined : logoOrigin(url);
  return [...new Set([...(own === undefined ? [] : [own]), ...others])];
}

/** The colour of a look, for the end of the style of a page that has no script. */
export function colorStyle({ color }: PortalLook): string {
  if (color === undefined) return '';
  const shades = Object.entries(shadesOf(color)).map(([name, value]) => `${name}: ${value};`);
  return ` :root { ${shades.join(' ')} }`;
}

/** A page that says how it looks, for its script to read. */
export function withLook(page: string, look: PortalLook): string {
  const named = page.replace(
    /<title>[^<]*<\/title>/,
    () => `<title>${escapeHtml(look.name ?? 'Hookline')}</title>`,
  );
  return withMeta(named, 'hookline-portal', look);
}

/** A page that says something to its script: by an element without meaning to browsers. */
export function withMeta(page: string, name: string, value: object): string {
  const text = escapeHtml(JSON.stringify(value));
  return page.replace('</head>', () => `<meta name="${name}" content="${text}" /></head>`);
}
