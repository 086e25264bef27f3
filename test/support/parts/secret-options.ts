import { issueServerCertificate } from '../../../src/demo/certificates.js';
import type { DeliveryOptions } from '../../../src/domain/sending/delivery-options.js';
import { testAuthority } from '../receiver.js';

/** Options of two endpoints, which have every secret of how deliveries are sent between them. */
export interface SecretOptions {
  withBearer: DeliveryOptions;
  withOAuth: DeliveryOptions;
  /** A part of each secret that JSON writes as it is, by its name. */
  texts: Record<'token' | 'private_key' | 'client_secret' | 'secret', string>;
}

/** Makes such options, with a certificate for `of-the-endpoint`. @param tokenUrl where access tokens are given out */
export async function secretOptions(tokenUrl: string): Promise<SecretOptions> {
  const names = { dns: ['of-the-endpoint'], ips: [] };
  const { cert, key } = await issueServerCertificate(await testAuthority(), names);
  const texts = {
    token: 'token-of-the-receiver',
    private_key: key.split('\n')[1] ?? '',
    client_secret: 'secret-of-the-client',
    secret: 'secret-of-the-signature',
  };
  return {
    withBearer: {
      authentication: { type: 'bearer', token: texts.token },
      client_certificate: { certificate: cert, private_key: key },
    },
    withOAuth: {
      authentication: {
        type: 'oauth2',
        token_url: tokenUrl,
        client_id: 'hookline',
        client_secret: texts.client_secret,
        client_auth: 'client_secret_basic',
      },
      legacy_signature: {
        header: 'x-signature',
        value: '{signature}',
        signed: '{body}',
        hmac: 'sha256',
        encoding: 'hex',
        secret: texts.secret,
      },
    },
    texts,
  };
}
