import { createHmac, randomBytes } from 'node:crypto';

/** The prefix of a symmetric signing secret (Standard Webhooks specification, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}

/**
 * The value of `webhook-signature`: for each live secret, `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, separated by
 * spaces (Standard Webhooks specification, "Verifying signatures"; several while a rotation overlaps).
 *
 * @param secrets `whsec_…`, newest first
 * @param id the `webhook-id`
 * @param timestamp the `webhook-timestamp`, unix seconds
 * @param body exactly what is sent
 */
export function sign(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
