/** Look of a platform's own portal, in place of Hookline's: by settings of the installation, and by account. */
export interface PortalLook {
  /** Name that the portal shows. */
  name?: string;
  /** A picture beside the name. */
  logo_url?: string;
  /** Color of links and buttons: `#rrggbb`. Shades with enough contrast are derived from it. */
  color?: string;
}

/** A name: a line of text. */
export const PORTAL_NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,60}$/u;

/** A colour, in the one notation that is taken. */
export const PORTAL_COLOR = /^#[\da-f]{6}$/i;

/** Characters of the address of a logo. */
const MAX_LOGO_URL = 500;

/** An origin as a policy names it: nothing else gets into a header. */
const LOGO_ORIGIN = /^https:\/\/[a-z\d.-]{1,253}(:\d{1,5})?$/;

/** Whether a text is an origin that pictures may come from, such as `https://cdn.example.com`. */
export function isLogoOrigin(text: string): boolean {
  return LOGO_ORIGIN.test(text);
}

/**
 * The origin of a logo, as the policy of the page names it; `undefined` if that is no address of one: `https`, and
 * nothing secret in it.
 */
export function logoOrigin(url: string): string | undefined {
  if (url.length > MAX_LOGO_URL || !URL.canParse(url)) return undefined;
  const { origin, username, password } = new URL(url);
  return username === '' && password === '' && isLogoOrigin(origin) ? origin : undefined;
}
