import type Provider from 'oidc-provider';

/** Where browsers reach the OAuth endpoints: what the issuer's URL says, whatever a request claims. */
export interface IssuerAddress {
  /** Path before every path of ours, without a trailing slash: empty unless the API is published below a path. */
  basePath: string;
  /** Whether cookies may travel over TLS only. */
  secure: boolean;
}

/** Reads the issuer's URL. */
export function issuerAddress(publicUrl: string): IssuerAddress {
  const { pathname, protocol } = new URL(publicUrl);
  return { basePath: pathname.replace(/\/+$/, ''), secure: protocol === 'https:' };
}

/**
 * Makes the library build every address from the issuer alone. By itself it believes the request's `Host` and `X-Forwarded-Host`, so that
 * whoever sends a request, or can poison a cache, chooses the endpoints in the metadata and the target of redirects.
 */
export function pinToIssuer(provider: Provider): void {
  const { protocol, host } = new URL(provider.issuer);
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });
  const urlFor: Provider['urlFor'] = (name, options) => provider.urlFor(name, options);
  Object.assign(provider.OIDCContext.prototype, { urlFor });
}
