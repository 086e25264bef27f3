import { randomUUID } from 'node:crypto';
import type Router from '@koa/router';
import { z } from 'zod';
import { deskRoleOf, isSubject } from '../../../domain/access/desk-session.js';
import type { SecretBox } from '../../../domain/access/secret-box.js';
import { QueueFullError } from '../../../domain/basics/bounded-queue.js';
import { Problem } from '../../../domain/http/problem.js';
import { plain } from '../../../domain/text/plain.js';
import { cutText } from '../../../domain/text/unicode.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { checkBytes, readJsonBytes } from '../../http/body.js';
import type { ApiDependencies, Context, State } from '../../http/context.js';
import { requestOf } from '../../http/origin.js';
import {
  type Challenge,
  newChallenge,
  type OpenIdProvider,
  ProviderUnavailableError,
  type SignedIn,
  SignInRefusedError,
} from '../../openid/provider.js';

/** How long a person may take at the provider, milliseconds: not longer than used tickets are remembered. */
const TAKES_MS = 600_000;
/** Characters of a name that are kept. */
const MAX_NAME = 100;
/** Bytes of a request. */
const MAX_BYTES = 8_192;

const bodySchema = z.strictObject({
  sign_in: z.string().max(2_000),
  response: z.string().max(4_000),
});

const sealedSchema = z.object({
  id: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  expires_at: z.number(),
});

/**
 * Sign-in to the desk by OpenID Connect, if a provider is set. `POST /sign_in/openid` begins it: its response has the
 * address of the provider, and the sealed secrets of this sign-in, which the page keeps in its tab. `POST
 * /sign_in/openid/response` takes them back with what the provider responds, once, for a token of the desk. Neither
 * uses cookies, and nothing that is sent says where the browser goes afterwards.
 */
export function openIdRoutes(router: Router<State>, dependencies: ApiDependencies): void {
  const { openId, box } = dependencies;
  if (!openId) return;

  router.post('/sign_in/openid', async (ctx) => {
    const challenge = newChallenge();
    const url = await answered(dependencies, ctx, openId, () => openId.authorizationUrl(challenge));
    ctx.set('cache-control', 'no-store');
    ctx.body = { url, sign_in: seal(box, challenge) };
  });

  router.post('/sign_in/openid/response', async (ctx) => {
    const { sign_in, response } = checkBytes(bodySchema, await readJsonBytes(ctx, MAX_BYTES));
    const challenge = await use(dependencies, sign_in);
    if (!challenge) throw refused('It took longer than ten minutes, or was completed before. Sign in again.');
    const person = await answered(dependencies, ctx, openId, () =>
      openId.person(new URLSearchParams(response), challenge),
    );
    ctx.set('cache-control', 'no-store');
    ctx.body = await signIn(dependencies, ctx, person);
  });
}

/** @returns the token of a new session @throws Problem 403 if the person has no role */
async function signIn(
  { settings, database }: ApiDependencies,
  ctx: Context,
  { claims, roles }: SignedIn,
): Promise<{ token: string; expires_at: string }> {
  const { HOOKLINE_OIDC_ISSUER: issuer = '', HOOKLINE_OIDC_ACCOUNT: account_id = '' } = settings;
  const role = deskRoleOf(roles, {
    act: settings.HOOKLINE_OIDC_ACT_ROLES,
    read: settings.HOOKLINE_OIDC_READ_ROLES,
  });
  if (!role)
    throw refused('You have no role that may use the desk. Ask whoever manages your sign-in for one.');
  if (!isSubject(claims.sub)) throw refused('The subject of the ID token is not valid.');
  if ((await database.accounts.current(account_id))?.status !== 'active')
    throw refused(`HOOKLINE_OIDC_ACCOUNT, ${account_id}, is no active account.`);
  const { token, session } = await database.deskSessions.create(
    {
      account_id,
      issuer,
      subject: claims.sub,
      name: nameIn(claims),
      role,
      expires_at: new Date(sharedNow() + settings.HOOKLINE_OIDC_SESSION),
    },
    { actor: { type: 'person', id: claims.sub }, ...requestOf(ctx) },
  );
  return { token, expires_at: session.expires_at };
}

/** Name of a person, in the words of the provider. */
function nameIn({ name, preferred_username, email, sub }: Record<string, unknown>): string {
  const found = [name, preferred_username, email, sub].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return cutText(plain(String(found)), MAX_NAME, '…');
}

const CONTEXT = 'openid-sign-in';

function seal(box: SecretBox, challenge: Challenge): string {
  const sealed = { id: randomUUID(), ...challenge, expires_at: sharedNow() + TAKES_MS };
  return box.seal(JSON.stringify(sealed), CONTEXT);
}

/** Uses a sign-in up, in all processes. @returns `undefined` if it is none, too old, or was used before */
async function use({ box, database }: ApiDependencies, text: string): Promise<Challenge | undefined> {
  const opened = open(box, text);
  if (!opened || opened.expires_at <= sharedNow()) return undefined;
  return (await database.usedTickets.use(opened.id)) ? opened : undefined;
}

function open(box: SecretBox, text: string): z.output<typeof sealedSchema> | undefined {
  try {
    return sealedSchema.parse(JSON.parse(box.open(text, CONTEXT)));
  } catch {
    return undefined;
  }
}

/** Does a step with the provider; why it fails is for the operator's log. @throws Problem 502, 503 or 403 */
async function answered<T>(
  { logger }: ApiDependencies,
  ctx: Context,
  { host }: OpenIdProvider,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof QueueFullError)
      throw new Problem('unavailable', 'Too many people are signing in. Sign in again in 2 seconds.', {
        headers: { 'retry-after': '2' },
      });
    const isRefusal = error instanceof SignInRefusedError;
    if (!isRefusal && !(error instanceof ProviderUnavailableError)) throw error;
    const { request_id } = ctx.state;
    logger.warn({ request_id, provider: host, why: error.message }, 'a sign-in to the desk failed');
    if (isRefusal) throw refused(`The response of ${host} does not sign you in. Sign in again.`);
    throw new Problem(
      'identity_provider_unavailable',
      `${host} cannot be reached, or does not respond as it should. Try again later.`,
    );
  }
}

function refused(detail: string): Problem {
  return new Problem('sign_in_refused', detail);
}
