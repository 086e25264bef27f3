/**
 * A URL from text; `undefined` if the text is not one. Not `URL.canParse`: that of Node.js 20 refuses host names
 * outside ASCII once it has been optimized.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Names of this machine in a URL. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Whether what is sent to a URL can be read by nobody on the way: by https, or by http on this machine. */
export function isSecureOrLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}
