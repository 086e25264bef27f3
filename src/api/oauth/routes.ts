import type Router from '@koa/router';
import type Provider from 'oidc-provider';
import type { ApiDependencies, State } from '../http/context.js';
import type { Limiters } from '../limits/limiters.js';
import { interactionRoutes } from './interactions.js';

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

/** OAuth 2.0: the pages where people log in and consent are ours, everything else is the library's. */
export function oauthRoutes(
  router: Router<State>,
  dependencies: ApiDependencies & { limiters: Limiters },
  provider: Provider,
): void {
  interactionRoutes(router, dependencies, provider);
  const answer = provider.callback();
  for (const path of LIBRARY_PATHS) {
    router.all(path, async (ctx) => {
      ctx.respond = false;
      await answer(ctx.req, ctx.res);
    });
  }
}
