import Router from '@koa/router';
import Koa from 'koa';
import type { ApiDependencies, Middleware, State } from './context.js';
import { requireJsonAccepted } from './middleware/accept.js';
import { authenticate } from './middleware/authenticate.js';
import { limitAddress, limitCaller, limitUnauthenticated } from './middleware/limit-rate.js';
import { answerProblems } from './middleware/problems.js';
import { identifyRequest } from './middleware/request-id.js';
import { checkVersion } from './middleware/version.js';
import { oauthRoutes } from './oauth/routes.js';
import { createOpenApiDocument } from './openapi.js';
import { mount, type Operation } from './operation.js';
import { accountOperations } from './routes/accounts.js';
import { apiKeyOperations } from './routes/api-keys.js';
import { deliveryOperations } from './routes/deliveries.js';
import { documentRoutes } from './routes/documents.js';
import { endpointOperations } from './routes/endpoints.js';
import { eventOperations } from './routes/events.js';
import { healthRoutes } from './routes/health.js';
import { loginOperations } from './routes/logins.js';
import { meOperations } from './routes/me.js';
import { oauthClientOperations } from './routes/oauth-clients.js';
import { profileOperations } from './routes/profiles.js';
import { createTokenCheck } from './token-check.js';

/** The HTTP interface. A request passes the middlewares below from top to bottom. */
export function createApp(dependencies: ApiDependencies): Koa<State> {
  const operations = new Router<State>();
  healthRoutes(operations, dependencies);

  const declared = operationsOf(dependencies);
  const resources = new Router<State>({ prefix: '/:version' });
  mount(resources, declared);

  const open = new Router<State>();
  documentRoutes(open, createOpenApiDocument(declared));
  oauthRoutes(open, dependencies);

  const app = new Koa<State>();
  const hops = dependencies.settings.HOOKLINE_PROXY_HOPS;
  app.proxy = hops > 0;
  app.maxIpsCount = hops;
  app.use(identifyRequest(dependencies.logger));
  app.use(answerProblems(dependencies.logger, dependencies.isUnavailable));
  app.use(operations.routes());
  app.use(where(open, limitAddress(dependencies.limiters)));
  app.use(open.routes());
  app.use(limitUnauthenticated(dependencies.limiters));
  app.use(checkVersion);
  app.use(requireJsonAccepted);
  app.use(authenticate(createTokenCheck(dependencies)));
  app.use(limitCaller(dependencies.limiters));
  app.use(resources.routes());
  app.use(resources.allowedMethods());
  return app;
}

/** Every operation below the version. */
function operationsOf(dependencies: ApiDependencies): Operation[] {
  return [
    ...eventOperations(dependencies),
    ...endpointOperations(dependencies),
    ...deliveryOperations(dependencies),
    ...meOperations(dependencies),
    ...profileOperations(dependencies),
    ...apiKeyOperations(dependencies),
    ...oauthClientOperations(dependencies),
    ...loginOperations(dependencies),
    ...accountOperations(dependencies),
  ];
}

/** Applies a middleware where a router has a route. */
function where(router: Router<State>, middleware: Middleware): Middleware {
  return (ctx, next) => (router.match(ctx.path, ctx.method).route ? middleware(ctx, next) : next());
}
