/** Shorter ones are too likely to stand in a text by chance, and to cut it to pieces. */
const SHORTEST = 6;
const MASK = '[redacted]';

/** Takes secrets out of a text that somebody else has written, such as an answer that repeats the request's headers. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST)
    .reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
}
