import Router from '@koa/router';
import { once } from '../../domain/basics/at-most-every.js';
import { Problem } from '../../domain/http/problem.js';
import type { ApiDependencies, Middleware, State } from '../http/context.js';
import { limitTime } from '../http/middleware/time-limit.js';
import type { Limiters } from '../limits/limiters.js';
import { portalLook } from '../web/portal-look.js';
import { answerUnavailable } from './answers.js';
import { Pages } from './pages.js';

/** Every path that these routes may answer. */
export const OAUTH_PATH = /^\/(oauth|\.well-known)\/.+/;

/**
 * The OAuth 2.0 routes. The library behind them takes long to load, and most processes are never asked for a token, so
 * it is loaded with the first request for one of its paths.
 */
export function oauthOnDemand(dependencies: ApiDependencies & { limiters: Limiters }): Middleware {
  const pages = new Pages(portalLook(dependencies.settings));
  // A little sooner than any other response, so that an outage is told as OAuth and its pages tell it.
  const limited = limitTime(7_000, dependencies.isUnavailable);
  // Tried again for example after MongoDB was out of reach.
  const routes = once(() => loadRoutes(dependencies, pages));
  return async (ctx, next) => {
    try {
      await limited(ctx, async () => (await routes())(ctx, next));
    } catch (error) {
      const isOverdue = error instanceof Problem && error.code === 'unavailable';
      if (!isOverdue && !dependencies.isUnavailable(error)) throw error;
      ctx.state.uncount?.();
      answerUnavailable(ctx, pages);
    }
  };
}

async function loadRoutes(
  dependencies: ApiDependencies & { limiters: Limiters },
  pages: Pages,
): Promise<Middleware> {
  const [{ createOAuthProvider }, { oauthRoutes }, cookieSecret] = await Promise.all([
    withoutRuntimeNotice(() => import('./provider.js')),
    withoutRuntimeNotice(() => import('./routes.js')),
    dependencies.database.installationSecrets.get('cookies'),
  ]);
  const provider = createOAuthProvider(dependencies, pages, cookieSecret);
  const router = new Router<State>();
  oauthRoutes(router, dependencies, provider, pages);
  return router.routes() as unknown as Middleware; // it gives the context its parameters itself
}

/** Loads a module, and drops one notice that it prints: Hookline is tested on the release in question. */
async function withoutRuntimeNotice<T>(load: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = (...args: unknown[]) => {
    // Part of what oidc-provider prints when it is loaded by a Node.js release that its authors do not support, such as
    // 20.
    if (!String(args[0]).includes('Unsupported runtime')) warn(...args);
  };
  try {
    return await load();
  } finally {
    console.warn = warn;
  }
}
