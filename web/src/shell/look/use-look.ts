import { useEffect } from 'react';
import { shadesOf } from '../../../../src/domain/look/shades.js';
import { endedLink } from '../../api/ended-link.js';
import type { Schemas } from '../../api/types.js';
import iconUrl from '../../icon.svg';
import { useRole } from '../../ui/link.js';
import { useHolder } from '../use-session.js';
import { readMeta } from './read-meta.js';

type Look = NonNullable<Schemas['Session']['account']['portal']>;

/** Look that the service has written into the page for its portal. */
const INSTALLED: Look = readMeta<Look>('hookline-portal') ?? {};

/**
 * How the pages of this role look: the portal as its platform wants it, by account or else by installation; the desk as
 * Hookline.
 */
export function useLook(): Look & { name: string } {
  const role = useRole();
  const own = useHolder().data?.account.portal ?? endedLink();
  return { name: OUR_NAME, ...(role === 'portal' && { ...INSTALLED, ...own }) };
}

/** The name of pages that have no look of their own. */
export const OUR_NAME = 'Hookline';

/** Gives the window the picture of the look; none of ours where the look is somebody else's. */
export function useLookIcon(): void {
  const { logo_url, name } = useLook();
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!icon) return;
    const picture = logo_url ?? (name === OUR_NAME ? iconUrl : undefined);
    icon.removeAttribute('type');
    if (picture === undefined) icon.removeAttribute('href');
    else icon.href = picture;
  }, [logo_url, name]);
}

/** Shows the pages in the colour of the look. */
export function useLookColor(): void {
  const { color } = useLook();
  useEffect(() => {
    if (color === undefined) return;
    const { style } = document.documentElement;
    const shades = Object.entries(shadesOf(color));
    for (const [name, value] of shades) style.setProperty(name, value);
    return () => {
      for (const [name] of shades) style.removeProperty(name);
    };
  }, [color]);
}
