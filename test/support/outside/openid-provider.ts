import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import Provider, { type AccountClaims } from 'oidc-provider';
import { Agent, request } from 'undici';
import { listenLocally } from '../../../src/demo/local-server.js';
import { testAuthority, testCertificate } from '../receiver.js';

const CLIENT = { client_id: 'hookline', client_secret: 'secret-of-the-client-secret-of-the-client' };

/** People at the provider, by subject, with what it says of them. */
const PEOPLE: Record<string, Omit<AccountClaims, 'sub'>> = {
  'u-ada': { name: 'Ada Lovelace', roles: ['staff', 'webhooks-act'] },
  'u-grace': { name: 'Grace Hopper', roles: ['webhooks-read'] },
  'u-mallory': { name: 'Mallory', roles: ['staff'] },
};

/** `oidc-provider` as the identity provider of an organisation, over HTTPS. */
export interface IdentityProvider {
  issuer: string;
  /** Settings with which Hookline signs people in there. */
  settings: Record<string, string>;
  secret: string;
  /** The person who signs in from now on, without being asked for anything. */
  person: string;
  /** Opens the address of a sign-in as a browser does. @returns the parameters with which it is sent back */
  visit(url: string): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** @param options.inIdToken whether the ID token has all claims, or UserInfo alone */
export async function startIdentityProvider({
  inIdToken = true,
}: {
  inIdToken?: boolean;
} = {}): Promise<IdentityProvider> {
  const server = createServer(await testCertificate());
  const { port, close } = await listenLocally(server);
  const issuer = `https://localhost:${port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: ['https://hooks.example.com/desk/signed-in'] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] },
    claims: { openid: ['sub'], profile: ['name', 'roles'], email: ['email'] },
    conformIdTokenClaims: !inIdToken,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of the cookies'] },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub, ...PEOPLE[sub] }) }),
  });
  // Browsers open the address of the service itself, which is not known before it listens.
  Object.assign(provider.Client.prototype, {
    redirectUriAllowed: (uri: string) => uri.endsWith('/desk/signed-in'),
  });
  const identity = { person: 'u-ada' };
  const answer = provider.callback();
  server.on('request', (incoming, response) => {
    if (!incoming.url?.startsWith('/interaction/')) return void answer(incoming, response);
    const signIn = async () => {
      const grant = new provider.Grant({ accountId: identity.person, clientId: CLIENT.client_id });
      grant.addOIDCScope('openid profile email');
      const consent = { grantId: await grant.save() };
      await provider.interactionFinished(incoming, response, {
        login: { accountId: identity.person },
        consent,
      });
    };
    void signIn();
  });
  return Object.assign(identity, {
    issuer,
    secret: CLIENT.client_secret,
    settings: {
      HOOKLINE_OIDC_ISSUER: issuer,
      HOOKLINE_OIDC_CLIENT_ID: CLIENT.client_id,
      HOOKLINE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
      HOOKLINE_OIDC_READ_ROLES: 'webhooks-read',
      HOOKLINE_OIDC_ACT_ROLES: 'webhooks-act',
    },
    visit: (url: string) => visit(url, issuer),
    close,
  });
}

/** Follows the redirects of a provider, with its cookies, until one leads elsewhere. */
async function visit(url: string, issuer: string): Promise<URLSearchParams> {
  const { cert } = await testAuthority();
  const dispatcher = new Agent({ connect: { ca: cert } });
  const cookies = new Map<string, string>();
  try {
    let next = url;
    while (next.startsWith(issuer)) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const { headers, body } = await request(next, { dispatcher, headers: { cookie } });
      await body.dump();
      for (const set of [headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      next = new URL(String(headers['location']), next).href;
    }
    return new URL(next).searchParams;
  } finally {
    await dispatcher.destroy();
  }
}
