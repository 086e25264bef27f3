/**
 * Mistake in a URL as far as it can be seen from the text alone. The service decides: it looks up the name, and has its
 * own lists.
 *
 * @returns a sentence, or `undefined` if nothing is wrong, or nothing has been typed
 */
export function mistakeInUrl(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  if (!URL.canParse(text)) return 'This is not a URL. It should look like https://example.com/webhooks.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The URL must begin with https://.';
  if (url.username || url.password) return 'Leave the name and password out. Send them as a header instead.';
  if (url.hash) return 'Leave out the part after #: it is never sent.';
  return undefined;
}

/** Whether a URL is one of plain http, which an installation takes if its operator allows it. */
export function isPlainHttp(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'http:';
}

/** Whether a URL leads to the machine or network that one is in: most installations refuse that. */
export function isPrivateUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname } = new URL(text);
  return (
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[)/.test(hostname) ||
    !hostname.includes('.')
  );
}
