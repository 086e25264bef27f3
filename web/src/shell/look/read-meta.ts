/** Value that the service has written into the page, under a name. A page of Vite's own server has nothing. */
export function readMeta<T>(name: string): T | undefined {
  const text = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
  return text ? (JSON.parse(text) as T) : undefined;
}

/** Limits of the service that pages speak of. */
export const LIMITS = readMeta<{ park_limit_ms: number }>('hookline-limits');

/** Ways to sign in to the desk that the service is set up for. */
export const SIGN_IN = readMeta<{ single_sign_on: boolean }>('hookline-sign-in');
