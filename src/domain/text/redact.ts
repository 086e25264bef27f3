import { cutText } from './unicode.js';

/** A shorter secret is too likely to be in a text by chance. */
const SHORTEST = 6;
const MASK = '[redacted]';

/**
 * Takes secrets out of a text that somebody else has written, such as a response that repeats the request's headers.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST)
    .reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
}

/** Takes secrets out of the beginning of a longer text, where the last one may be cut in two. */
export function redactBeginning(text: string, secrets: readonly string[]): string {
  const clean = redact(text, secrets);
  const halves = secrets.map((secret) => lengthOfCutSecret(clean, secret));
  return cutText(clean, clean.length - Math.max(0, ...halves));
}

/** How many characters at the end of a text are the beginning of a secret. */
function lengthOfCutSecret(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}
