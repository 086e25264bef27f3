import Router from '@koa/router';
import Koa from 'koa';
import { inject } from 'light-my-request';
import { documentRoutes } from './docs/documents.js';
import { errorRoutes } from './docs/error-pages.js';
import { createOpenApiDocument } from './docs/openapi.js';
import type { ApiDependencies, Middleware, State } from './http/context.js';
import { countFromZero } from './http/metrics.js';
import { requireJsonAccepted } from './http/middleware/accept.js';
import { checkVersion, setAnswerHeaders, VERSIONED } from './http/middleware/answer-headers.js';
import { authenticate } from './http/middleware/authenticate.js';
import { requireHost } from './http/middleware/host.js';
import { identifyRequest, measure, traceRequests, unlessProbe } from './http/middleware/observe.js';
import { answerProblems } from './http/middleware/problems.js';
import { limitTime } from './http/middleware/time-limit.js';
import { writeUnicode } from './http/middleware/unicode.js';
import { answerOperations, type Operation } from './http/operation.js';
import { limitAddress, limitCaller, limitQuery, limitUnauthenticated } from './limits/limit-rate.js';
import type { Limiters } from './limits/limiters.js';
import { OAUTH_PATH, oauthOnDemand } from './oauth/on-demand.js';
import { accountOperations } from './routes/access/accounts.js';
import { apiKeyOperations } from './routes/access/api-keys.js';
import { loginOperations } from './routes/access/logins.js';
import { oauthClientOperations } from './routes/access/oauth-clients.js';
import { openIdRoutes } from './routes/access/openid-sign-in.js';
import { portalSessionOperations } from './routes/access/portal-sessions.js';
import { sessionOperations } from './routes/access/session.js';
import { signInRoute } from './routes/access/sign-in.js';
import { readBatchOperations } from './routes/batch.js';
import { changeOperations } from './routes/changes/changes.js';
import { deliveryOperations } from './routes/deliveries/deliveries.js';
import { endpointChangeOperations } from './routes/endpoints/endpoint-changes.js';
import { endpointSecretOperations } from './routes/endpoints/endpoint-secrets.js';
import {
  confirmationRoutes,
  endpointVerificationOperations,
} from './routes/endpoints/endpoint-verification.js';
import { endpointOperations } from './routes/endpoints/endpoints.js';
import { catalogueOperations } from './routes/event-kinds/catalogue.js';
import { eventKindOperations } from './routes/event-kinds/event-kinds.js';
import { eventOperations } from './routes/events/events.js';
import { scheduledOperations } from './routes/events/scheduled.js';
import { explainOperations } from './routes/explain/explain.js';
import { missedOperations } from './routes/explain/missed.js';
import { exportOperations } from './routes/exports/exports.js';
import { feedOperations } from './routes/feed/feed.js';
import { healthRoutes } from './routes/health.js';
import { deskSessionOperations } from './routes/installation/desk-sessions.js';
import { installationListOperations } from './routes/installation/lists.js';
import { searchOperations } from './routes/installation/search.js';
import { installationStatsOperations } from './routes/installation/stats.js';
import { usageOperations } from './routes/installation/usage.js';
import { inboxOperations } from './routes/listeners/inboxes.js';
import { listenerOperations } from './routes/listeners/listeners.js';
import { certificateOperations } from './routes/log/certificates.js';
import { integrityOperations } from './routes/log/integrity.js';
import { checkpointRoute, logOperations, tileRoutes } from './routes/log/log.js';
import { profileOperations } from './routes/profiles/profiles.js';
import { replayOperations } from './routes/replays/replays.js';
import { sequenceOperations } from './routes/sequence/sequence.js';
import { statsOperations } from './routes/stats/stats.js';
import { subjectOperations } from './routes/subjects/subjects.js';
import { whatIfOperations } from './routes/what-if/what-if.js';
import { webRoutes } from './web/web-routes.js';

/**
 * Every response comes within ten seconds, whatever a server behind does; two seconds are for a busy process.
 * Milliseconds.
 */
const ANSWER_WITHIN_MS = 8_000;

/** Paths below the version that need no token. */
const PUBLIC = /^\/v\d[^/]*\/log\//;

/** The HTTP interface. A request passes the middlewares below from top to bottom. */
export function createApp(dependencies: ApiDependencies & { limiters: Limiters }): Koa<State> {
  const app = new Koa<State>();
  const publicOperations = logOperations(dependencies);
  const operations = operationsOf(dependencies);
  const reads = readBatchOperations((read) => inject(app.callback(), read), excludedFromBatches(operations));
  const declared = [...operations, ...reads];
  countFromZero(dependencies.metrics, [...declared, ...publicOperations]);
  const confirmations = new Router<State>({ prefix: '/:version' });
  confirmationRoutes(confirmations, dependencies);

  const tiles = new Router<State>({ prefix: '/:version' });
  tileRoutes(tiles, dependencies);

  const open = new Router<State>();
  healthRoutes(open, dependencies);
  // Files in memory, which cost less than counting who asks for them.
  webRoutes(open, dependencies);
  // For the routes that follow it.
  open.use(limitAddress(dependencies.limiters, dependencies.development));
  documentRoutes(open, dependencies, () => createOpenApiDocument([...declared, ...publicOperations]));
  errorRoutes(open);
  signInRoute(open, dependencies);
  openIdRoutes(open, dependencies);
  // Without a version: clients of C2SP tlog-tiles take the log's name, `hooks.example.com/log`, for its address.
  checkpointRoute(open, dependencies);
  tileRoutes(open, dependencies);
  open.all(OAUTH_PATH, oauthOnDemand(dependencies));

  const hops = dependencies.settings.HOOKLINE_PROXY_HOPS;
  app.proxy = hops > 0;
  app.maxIpsCount = hops;
  app.use(measure(dependencies.metrics));
  app.use(identifyRequest(dependencies.logger));
  if (dependencies.tracing) app.use(unlessProbe(traceRequests(dependencies.tracing)));
  app.use(setAnswerHeaders);
  app.use(writeUnicode);
  app.use(answerProblems(dependencies));
  app.use(requireHost);
  app.use(limitQuery(dependencies.limiters));
  app.use(limitTime(ANSWER_WITHIN_MS, dependencies.isUnavailable));
  app.use(unversioned(open));
  app.use(answerPublic(publicOperations, tiles, dependencies.limiters));
  app.use(limitUnauthenticated(dependencies.limiters));
  app.use(checkVersion);
  app.use(confirmations.routes());
  app.use(requireJsonAccepted);
  app.use(authenticate(dependencies));
  app.use(limitCaller(dependencies.limiters));
  app.use(answerOperations(declared));
  return app;
}

/** Every operation below the version. */
function operationsOf(dependencies: ApiDependencies): Operation[] {
  return [
    ...eventOperations(dependencies),
    ...scheduledOperations(dependencies),
    ...eventKindOperations(dependencies),
    ...catalogueOperations(dependencies),
    ...endpointOperations(dependencies),
    ...endpointChangeOperations(dependencies),
    ...endpointSecretOperations(dependencies),
    ...endpointVerificationOperations(dependencies),
    ...listenerOperations(dependencies),
    ...inboxOperations(dependencies),
    ...deliveryOperations(dependencies),
    ...certificateOperations(dependencies),
    ...integrityOperations(dependencies),
    ...explainOperations(dependencies),
    ...missedOperations(dependencies),
    ...whatIfOperations(dependencies),
    ...replayOperations(dependencies),
    ...exportOperations(dependencies),
    ...feedOperations(dependencies),
    ...sequenceOperations(dependencies),
    ...profileOperations(dependencies),
    ...apiKeyOperations(dependencies),
    ...oauthClientOperations(dependencies),
    ...loginOperations(dependencies),
    ...accountOperations(dependencies),
    ...portalSessionOperations(dependencies),
    ...sessionOperations(dependencies),
    ...changeOperations(dependencies),
    ...subjectOperations(dependencies),
    ...statsOperations(dependencies),
    ...installationListOperations(dependencies),
    ...deskSessionOperations(dependencies),
    ...installationStatsOperations(dependencies),
    ...usageOperations(dependencies),
    ...searchOperations(dependencies),
  ];
}

/** First segments of paths whose responses are not JSON, are sent line by line, or wait for events. */
function excludedFromBatches(operations: readonly Operation[]): ReadonlySet<string> {
  const streams = operations.filter(({ responses }) => responses[200]?.lines);
  return new Set(['log', 'feed', ...streams.map(({ path }) => path.split('/')[1] ?? '')]);
}

/** Requests for resources are most of all requests: they skip the routes of everything else. */
function unversioned(router: Router<State>): Middleware {
  const routes = router.routes() as unknown as Middleware; // it gives the context its parameters itself
  return (ctx, next) => (VERSIONED.test(ctx.path) ? next() : routes(ctx, next));
}

/** Operations that need no token, and nothing beside them. Each request counts against its address. */
function answerPublic(operations: readonly Operation[], more: Router<State>, limiters: Limiters): Middleware {
  const limit = limitAddress(limiters);
  const answer = answerOperations(operations);
  const routes = more.routes() as unknown as Middleware;
  return (ctx, next) =>
    PUBLIC.test(ctx.path)
      ? limit(ctx, () => checkVersion(ctx, () => routes(ctx, () => answer(ctx, async () => {}))))
      : next();
}
