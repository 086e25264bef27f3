import Router from '@koa/router';
import Koa from 'koa';
import type { ApiDependencies, State } from './context.js';
import { authenticate } from './middleware/authenticate.js';
import { answerProblems } from './middleware/problems.js';
import { identifyRequest } from './middleware/request-id.js';
import { checkVersion } from './middleware/version.js';
import { deliveryRoutes } from './routes/deliveries.js';
import { endpointRoutes } from './routes/endpoints.js';
import { eventRoutes } from './routes/events.js';
import { healthRoutes } from './routes/health.js';

/** The HTTP interface. A request passes the middlewares below from top to bottom. */
export function createApp(dependencies: ApiDependencies): Koa<State> {
  const operations = new Router<State>();
  healthRoutes(operations, dependencies);

  const resources = new Router<State>({ prefix: '/:version' });
  eventRoutes(resources, dependencies);
  endpointRoutes(resources, dependencies);
  deliveryRoutes(resources, dependencies);

  const app = new Koa<State>();
  app.use(identifyRequest(dependencies.logger));
  app.use(answerProblems(dependencies.logger, dependencies.isUnavailable));
  app.use(operations.routes());
  app.use(checkVersion);
  app.use(authenticate(dependencies.database.apiKeys));
  app.use(resources.routes());
  app.use(resources.allowedMethods());
  return app;
}
