import type Router from '@koa/router';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import getRawBody from 'raw-body';
import type { Scope } from '../../domain/access/api-key.js';
import { matchesPassword, PASSWORD_LENGTH } from '../../domain/access/password.js';
import type { StoredLogin } from '../../models/access/logins.js';
import type { Database } from '../../models/database.js';
import type { ApiDependencies, Context, State } from '../http/context.js';
import { addressKey } from '../limits/limit-rate.js';
import type { Limiters } from '../limits/limiters.js';
import { anonymous } from '../limits/rate-limiter.js';
import { pathOf } from '../web/web-routes.js';
import { answerErrorPages, ErrorPage, loginEnded } from './error-pages.js';
import { INTERACTION_PATH, type Pages } from './pages.js';
import { accountOf } from './policy.js';

/** Paths of the library. */
const LIBRARY_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/oauth/authorize',
  '/oauth/authorize/:uid',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/jwks',
];

/**
 * Characters of a query that starts a login. It is stored for as long as the login takes, before anybody has logged in.
 */
const MAX_AUTHORIZATION_REQUEST = 4_096;

const tooLong = () =>
  new ErrorPage(
    400,
    'This request is not valid',
    `The application sent more than ${MAX_AUTHORIZATION_REQUEST} characters. Tell the people who make it.`,
  );

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** OAuth 2.0: the pages where people log in and consent are ours, everything else is the library's. */
export function oauthRoutes(
  router: Router<State>,
  dependencies: ApiDependencies & { limiters: Limiters },
  provider: Provider,
  pages: Pages,
): void {
  interactionRoutes(router, dependencies, provider, pages);
  router.use('/oauth/authorize', answerErrorPages(dependencies, pages), async (ctx, next) => {
    if (ctx.querystring.length > MAX_AUTHORIZATION_REQUEST) throw tooLong();
    await next();
  });
  const answer = provider.callback();
  for (const path of LIBRARY_PATHS) {
    router.all(path, async (ctx) => {
      ctx.respond = false;
      await answer(ctx.req, ctx.res);
      // Only an outage is answered so: a request is not counted for which there was no response.
      if (ctx.res.statusCode === 503) ctx.state.uncount?.();
    });
  }
}

/** The pages where people log in and consent. */
function interactionRoutes(
  router: Router<State>,
  dependencies: ApiDependencies & { limiters: Limiters },
  provider: Provider,
  pages: Pages,
): void {
  const { database, limiters } = dependencies;
  const addressOf = ({ uid }: Interaction) => `${pathOf(provider.issuer)}${INTERACTION_PATH}/${uid}`;

  /** The interaction that the person's cookie stands for. @throws ErrorPage 404 if it has ended, or is another's */
  const details = async (ctx: Context): Promise<Interaction> => {
    const interaction = await provider.interactionDetails(ctx.req, ctx.res).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) throw loginEnded();
      throw error;
    });
    if (interaction.uid !== ctx.params?.['uid']) throw loginEnded();
    ctx.set(pages.headers(interaction.params['redirect_uri'] as string | undefined));
    ctx.type = 'html';
    return interaction;
  };
  const clientOf = async (interaction: Interaction) => {
    const client = await provider.Client.find(String(interaction.params['client_id']));
    if (!client) {
      throw new ErrorPage(404, 'The application has been removed', 'It can no longer use your login.');
    }
    return { name: client.clientName ?? client.clientId, accountId: accountOf(client) };
  };
  const finish = (ctx: Context, result: Parameters<Provider['interactionFinished']>[2]) => {
    ctx.respond = false;
    return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
  };
  const denied = (ctx: Context) =>
    finish(ctx, { error: 'access_denied', error_description: 'The person did not allow it.' });

  router.use(INTERACTION_PATH, answerErrorPages(dependencies, pages));

  router.get(`${INTERACTION_PATH}/:uid`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    const path = addressOf(interaction);
    if (interaction.prompt.name === 'login') {
      const hint = interaction.params['login_hint'];
      ctx.body = pages.login({ path, client: client.name, loginName: typeof hint === 'string' ? hint : '' });
      return;
    }
    const { login, scopes } = await allowable(database, client.accountId, interaction);
    ctx.body = pages.consent({ path, client: client.name, person: login.login_name, scopes });
  });

  router.post(`${INTERACTION_PATH}/:uid/login`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    const form = await readForm(ctx);
    const loginName = form.get('login_name') ?? '';
    const password = (form.get('password') ?? '').slice(0, PASSWORD_LENGTH.max + 1);
    // The name and the address together, so that nobody can lock a person out from another address.
    const who = anonymous(`${client.accountId}:${loginName.toLowerCase()}:${addressKey(ctx.ip)}`);
    const { refusal, giveBack } = limiters.login.consume(who);
    if (refusal) throw tooManyTries(Number(refusal.headers['retry-after']));
    const login = await loginOf(client.accountId, loginName, password).catch((error: unknown) => {
      // It was not found to be wrong.
      giveBack();
      throw error;
    });
    if (login) {
      limiters.login.reset(who);
      await leaveOtherSession(interaction, login.subject);
      await finish(ctx, { login: { accountId: login.subject } });
      return;
    }
    ctx.status = 401;
    ctx.body = pages.login({
      path: addressOf(interaction),
      client: client.name,
      loginName,
      mistake: 'The name or the password is wrong. Try again.',
    });
  });

  router.post(`${INTERACTION_PATH}/:uid/consent`, async (ctx) => {
    const interaction = await details(ctx);
    const client = await clientOf(interaction);
    const { login, scopes, asked } = await allowable(database, client.accountId, interaction);
    if (scopes.length === 0) return denied(ctx);
    const grant =
      (interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined) ??
      new provider.Grant({ accountId: login.subject, clientId: String(interaction.params['client_id']) });
    grant.addOIDCScope(scopes.join(' '));
    const refused = asked.filter((scope) => !scopes.includes(scope as Scope));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '));
    await finish(ctx, { consent: { grantId: await grant.save() } });
  });

  router.post(`${INTERACTION_PATH}/:uid/cancel`, async (ctx) => {
    await details(ctx);
    await denied(ctx);
  });

  /** The login that a name and a password are of. */
  async function loginOf(accountId: string, name: string, password: string) {
    const login = await database.logins.find(accountId, name);
    return (await matchesPassword(password, login?.password_hash)) ? login : undefined;
  }

  /**
   * Ends the session of another person, or of an earlier password, in the same browser. The library would ask for a
   * logout first, with a page that it serves only with logout by clients, which is off.
   */
  async function leaveOtherSession(interaction: Interaction, subject: string): Promise<void> {
    const { session } = interaction;
    if (!session?.uid || session.accountId === undefined || session.accountId === subject) return;
    await database.oauthRecords.endSession(session.uid);
    delete interaction.session;
    await interaction.save(interaction.exp - Math.floor(Date.now() / 1_000));
  }
}

/** Requested scopes that the person who is logged in may allow. @throws ErrorPage 404 if they have no login any more */
async function allowable(
  database: Database,
  accountId: string,
  interaction: Interaction,
): Promise<{ login: StoredLogin; asked: string[]; scopes: Scope[] }> {
  const subject = interaction.session?.accountId;
  const login = subject === undefined ? undefined : await database.logins.ofSubject(subject);
  if (login?.account_id !== accountId) throw loginEnded();
  const asked = String(interaction.params['scope'] ?? '')
    .split(' ')
    .filter((scope) => scope !== '');
  return { login, asked, scopes: login.scopes.filter((scope) => asked.includes(scope)) };
}

function tooManyTries(seconds: number): ErrorPage {
  const minutes = Math.ceil(seconds / 60);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const text = `Wait ${wait}, then go back to the application and log in again.`;
  return new ErrorPage(429, 'Too many attempts to log in', text, { 'retry-after': String(seconds) });
}

async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded')) {
    throw new ErrorPage(415, 'The form cannot be read', 'Send it as application/x-www-form-urlencoded.');
  }
  const text = await getRawBody(ctx.req, { limit: 8 * 1024, encoding: 'utf8' }).catch(() => {
    throw new ErrorPage(400, 'The form cannot be read', 'Load the page again, and send the form again.');
  });
  return new URLSearchParams(text);
}
