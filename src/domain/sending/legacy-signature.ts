import { createHmac } from 'node:crypto';

/** Hash functions that a legacy signature can be an HMAC of. */
export const LEGACY_HMACS = ['sha256', 'sha512', 'sha1'] as const;

/** Parts of a request that the templates of a legacy signature name in braces. */
const PARTS = ['id', 'timestamp', 'kind', 'body'] as const;

/**
 * A signature as another service made it, for receivers that verify that one: it is sent beside the one of Standard
 * Webhooks.
 */
export interface LegacySignature {
  /** Name of the header. */
  header: string;
  /** Its value, such as `sha256={signature}`. It may name `{id}`, `{timestamp}` and `{kind}`, too. */
  value: string;
  /** The text that is signed, such as `{timestamp}.{body}`. It names `{body}` once. */
  signed: string;
  hmac: (typeof LEGACY_HMACS)[number];
  encoding: 'hex' | 'base64';
  /** A header with the time of the attempt, seconds since the epoch; absent: none. */
  timestamp_header?: string;
  /** The key: the UTF-8 bytes of this text. Secret. */
  secret: string;
}

/** A request, as far as a signature is of it. */
export interface SignedRequest {
  /** The `webhook-id`. */
  id: string;
  /** The `webhook-timestamp`. */
  timestamp: number;
  kind: string;
  /** The body as it is sent. */
  body: string;
}

/** Finds what is wrong with a template; `undefined` if nothing is. */
export function objectionToTemplate(name: 'value' | 'signed', template: string): string | undefined {
  const needed = name === 'value' ? 'signature' : 'body';
  const known: string[] = name === 'value' ? ['signature', 'id', 'timestamp', 'kind'] : [...PARTS];
  const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, part = '']) => part);
  const unknown = named.find((part) => !known.includes(part));
  if (unknown !== undefined)
    return `names {${unknown}}; it can name ${known.map((part) => `{${part}}`).join(', ')}`;
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ''))) return 'has a brace without its pair';
  return named.filter((part) => part === needed).length === 1 ? undefined : `must name {${needed}} once`;
}

/** The headers of a legacy signature. */
export function legacyHeaders(
  { header, value, signed, hmac, encoding, timestamp_header, secret }: LegacySignature,
  request: SignedRequest,
): Record<string, string> {
  const parts = { ...request, timestamp: String(request.timestamp) };
  const digest = createHmac(hmac, secret).update(filled(signed, parts), 'utf8').digest(encoding);
  return {
    [header.toLowerCase()]: filled(value, { ...parts, signature: digest }),
    ...(timestamp_header !== undefined && { [timestamp_header.toLowerCase()]: parts.timestamp }),
  };
}

function filled(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '');
}
