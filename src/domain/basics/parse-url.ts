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
