import { useEffect } from 'react';
import { shadesOf } from '../../../../src/domain/look/shades.js';
import type { Schemas } from '../../api/types.js';
import { useRole } from '../../ui/link.js';
import { useHolder } from '../use-session.js';

type Look = NonNullable<Schemas['Session']['account']['portal']>;

/** What the service has written into the page: how its portal looks. */
const INSTALLED: Look = read();

function read(): Look {
  const text = document.querySelector<HTMLMetaElement>('meta[name="hookline-portal"]')?.content;
  return text ? (JSON.parse(text) as Look) : {};
}

/**
 * How the pages of this role look: the portal as its platform wants it, by account or else by installation; the desk as
 * Hookline.
 */
export function useLook(): Look & { name: string } {
  const role = useRole();
  const own = useHolder().data?.account.portal;
  return { name: 'Hookline', ...(role === 'portal' && { ...INSTALLED, ...own }) };
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
