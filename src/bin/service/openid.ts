import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { OpenIdProvider, type ProviderFetch } from '../../api/openid/provider.js';
import type { Settings } from '../../config/schema.js';
import { claimIn } from '../../domain/access/desk-session.js';
import { once } from '../../domain/basics/at-most-every.js';
import { readResponse } from '../process/read-response.js';

/** A response of the provider is not waited for longer, milliseconds. */
const TIMEOUT_MS = 5_000;
/** The most that is read of one, bytes: metadata, keys and tokens have some kilobytes. */
export const MAX_PROVIDER_BYTES = 256 * 1_024;

/** The OpenID provider of the desk, if the settings name one. */
export function createOpenId(settings: Settings, publicUrl: string): OpenIdProvider | undefined {
  const { HOOKLINE_OIDC_ISSUER: issuer, HOOKLINE_OIDC_CLIENT_ID: clientId } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  return new OpenIdProvider(
    {
      issuer,
      clientId,
      clientSecret: settings.HOOKLINE_OIDC_CLIENT_SECRET,
      scope: settings.HOOKLINE_OIDC_SCOPES,
      redirectUri: `${publicUrl.replace(/\/$/, '')}/desk/signed-in`,
      rolesIn: (claims) => claimIn(claims, settings.HOOKLINE_OIDC_ROLE_CLAIM),
    },
    providerFetch(settings),
  );
}

/** Requests to the provider. It is the operator's choice, so it may be in a network of their own. */
export function providerFetch({ HOOKLINE_EXTRA_CA_FILE: caFile }: Settings): ProviderFetch {
  const authorities = once(async () =>
    caFile ? [...rootCertificates, await readFile(caFile, 'utf8')] : undefined,
  );
  return async (url, { method, headers, body }) => {
    const ca = await authorities();
    // Sign-ins are rare: a connection that was kept would have ended before the next one.
    const dispatcher = new Agent({ ...(ca && { connect: { ca } }) });
    try {
      const response = await request(url, {
        dispatcher,
        method: method as 'GET',
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const bytes = await readResponse(response.body as AsyncIterable<Buffer>, MAX_PROVIDER_BYTES);
      return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
        status: response.statusCode,
        headers: { 'content-type': String(response.headers['content-type'] ?? '') },
      });
    } finally {
      await dispatcher.destroy();
    }
  };
}
