import { useState } from 'react';
import iconUrl from '../../icon.svg';
import { useLook } from './use-look.js';

/** The name and the picture of the portal's platform, or of Hookline. */
export function Brand({ children }: { children?: React.ReactNode }) {
  const { name, logo_url } = useLook();
  const [broken, setBroken] = useState<string>();
  const isShown = logo_url !== undefined && logo_url !== broken;
  return (
    <>
      <img src={isShown ? logo_url : iconUrl} alt="" onError={() => setBroken(logo_url)} />
      <span className="brand-name">{name}</span> {children}
    </>
  );
}
