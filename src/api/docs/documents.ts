import type Router from '@koa/router';
import type { State } from '../http/context.js';
import { contentSecurityPolicy, renderDocs } from './docs-page.js';
import type { JsonObject } from './openapi.js';

/** `/openapi.json`: the description of the API for programs. `/docs`: the same for people. Both are made when they are first asked for. */
export function documentRoutes(router: Router<State>, createDocument: () => JsonObject): void {
  let made: { text: string; page: string } | undefined;
  const documents = () => {
    if (made) return made;
    const document = createDocument();
    made = { text: JSON.stringify(document), page: renderDocs(document) };
    return made;
  };

  router.get('/openapi.json', (ctx) => {
    ctx.set({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' });
    ctx.type = 'application/json';
    ctx.body = documents().text;
  });

  router.get('/docs', (ctx) => {
    ctx.set({ 'content-security-policy': contentSecurityPolicy(), 'cache-control': 'public, max-age=300' });
    ctx.type = 'html';
    ctx.body = documents().page;
  });
}
