import type Router from '@koa/router';
import type Provider from 'oidc-provider';
import type { ApiDependencies, State } from '../http/context.js';
import type { Limiters } from '../limits/limiters.js';
import { answerErrorPages, ErrorPage } from './error-pages.js';
import { interactionRoutes } from './interactions.js';
import type { Pages } from './pages.js';

/** What the library answers. */
const LIBRARY_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/oauth/authorize',
  '/oauth/authorize/:uid',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/jwks',
];

/** Characters of a query that starts a login. It is stored for as long as the login takes, before anybody has logged in. */
const MAX_AUTHORIZATION_REQUEST = 4_096;

const tooLong = () =>
  new ErrorPage(
    400,
    'This request is not valid',
    `The application sent more than ${MAX_AUTHORIZATION_REQUEST} characters. Tell the people who make it.`,
  );

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
    });
  }
}
