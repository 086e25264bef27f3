import type Router from '@koa/router';
import type { State } from '../http/context.js';
import { contentSecurityPolicy, renderDocs } from './docs-page.js';
import type { JsonObject } from './openapi.js';

/** `/openapi.json`: the description of the API for programs. `/docs`: the same for people. */
export function documentRoutes(router: Router<State>, document: JsonObject): void {
  const text = JSON.stringify(document);
  const page = renderDocs(document);

  router.get('/openapi.json', (ctx) => {
    ctx.set({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' });
    ctx.type = 'application/json';
    ctx.body = text;
  });

  router.get('/docs', (ctx) => {
    ctx.set({ 'content-security-policy': contentSecurityPolicy(), 'cache-control': 'public, max-age=300' });
    ctx.type = 'html';
    ctx.body = page;
  });
}
