import type Router from '@koa/router';
import type Provider from 'oidc-provider';
import getRawBody from 'raw-body';
import type { Scope } from '../../domain/access/api-key.js';
import { matchesPassword, PASSWORD_LENGTH } from '../../domain/access/password.js';
import { Problem } from '../../domain/http/problem.js';
import type { Database } from '../../models/database.js';
import type { ApiDependencies, Context, State } from '../http/context.js';
import type { Limiters } from '../limits/limiters.js';
import { anonymous } from '../limits/rate-limiter.js';
import { contentSecurityPolicy, renderConsent, renderLogin } from './pages.js';
import { accountOf, INTERACTION_PATH } from './provider.js';

/** The largest form, bytes. */
const MAX_FORM_BYTES = 8 * 1024;

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Where people log in and consent; everything else of OAuth is the provider's. */
export function oauthRoutes(
  router: Router<State>,
  { database, limiters }: ApiDependencies & { limiters: Limiters },
  provider: Provider,
): void {
  /** The interaction that the person's cookie stands for. @throws Problem 404 where it has ended, or is another's */
  const details = async (ctx: Context): Promise<Interaction> => {
    const interaction = await provider.interactionDetails(ctx.req, ctx.res).catch(() => undefined);
    if (interaction?.uid !== ctx.params?.['uid'] || !interaction) {
      throw new Problem('not_found', 'This login has ended. Go back to the application and begin again.');
    }
    ctx.set({
      'content-security-policy': contentSecurityPolicy(
        interaction.params['redirect_uri'] as string | undefined,
      ),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    ctx.type = 'html';
    return interaction;
  };
  const clientOf = async (interaction: Interaction) => {
    const client = await provider.Client.find(String(interaction.params['client_id']));
    if (!client) throw new Problem('not_found', 'The application has been removed.');
    return { name: client.clientName ?? client.clientId, accountId: accountOf(client) };
  };
  const finish = (ctx: Context, result: Parameters<Provider['interactionFinished']>[2]) => {
    ctx.respond = false;
    return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
  };

  router.get(`${INTERACTION_PATH}/:uid`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    if (interaction.prompt.name === 'login') {
      const hint = interaction.params['login_hint'];
      ctx.body = renderLogin({
        uid: interaction.uid,
        client: client.name,
        loginName: typeof hint === 'string' ? hint : '',
      });
      return;
    }
    const { login, scopes } = await allowable(database, client.accountId, interaction);
    ctx.body = renderConsent({ uid: interaction.uid, client: client.name, person: login.login_name, scopes });
  });

  router.post(`${INTERACTION_PATH}/:uid/login`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    const form = await readForm(ctx);
    const loginName = form.get('login_name') ?? '';
    const password = (form.get('password') ?? '').slice(0, PASSWORD_LENGTH.max + 1);
    const { refusal } = limiters.login.consume(anonymous(`${client.accountId}:${loginName.toLowerCase()}`));
    if (refusal) throw refusal;
    const login = await database.logins.find(client.accountId, loginName);
    if ((await matchesPassword(password, login?.password_hash)) && login) {
      await finish(ctx, { login: { accountId: login.profile_id } });
      return;
    }
    ctx.status = 401;
    ctx.body = renderLogin({
      uid: interaction.uid,
      client: client.name,
      loginName,
      mistake: 'Name and password do not match. Try again.',
    });
  });

  router.post(`${INTERACTION_PATH}/:uid/consent`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    const { login, scopes, asked } = await allowable(database, client.accountId, interaction);
    const grant =
      (interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined) ??
      new provider.Grant({
        accountId: login.profile_id,
        clientId: String(interaction.params['client_id']),
      });
    grant.addOIDCScope(scopes.join(' '));
    const refused = asked.filter((scope) => !scopes.includes(scope as Scope));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '));
    await finish(ctx, { consent: { grantId: await grant.save() } });
  });

  router.post(`${INTERACTION_PATH}/:uid/cancel`, async (ctx) => {
    await details(ctx);
    await finish(ctx, { error: 'access_denied', error_description: 'The person did not allow it.' });
  });

  const answer = provider.callback();
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/oauth/authorize',
    '/oauth/authorize/:uid',
    '/oauth/token',
    '/oauth/revoke',
    '/oauth/introspect',
    '/oauth/jwks',
  ]) {
    router.all(path, async (ctx) => {
      ctx.respond = false;
      await answer(ctx.req, ctx.res);
    });
  }
}

/** What the person who is logged in may allow of what is asked. @throws Problem 404 where they have no login any more */
async function allowable(database: Database, accountId: string, interaction: Interaction) {
  const login = interaction.session?.accountId
    ? await database.logins.ofProfile(accountId, interaction.session.accountId)
    : undefined;
  if (!login)
    throw new Problem('not_found', 'This login has ended. Go back to the application and begin again.');
  const asked = String(interaction.params['scope'] ?? '')
    .split(' ')
    .filter((scope) => scope !== '');
  return { login, asked, scopes: login.scopes.filter((scope) => asked.includes(scope)) };
}

async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded')) {
    throw new Problem('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  return new URLSearchParams(await getRawBody(ctx.req, { limit: MAX_FORM_BYTES, encoding: 'utf8' }));
}
