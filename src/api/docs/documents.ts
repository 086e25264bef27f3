import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import { matchesEtag } from '../../domain/http/etag.js';
import type { Middleware, State } from '../http/context.js';
import { contentSecurityPolicy, renderDocs } from './docs-page.js';
import type { JsonObject } from './json.js';

/** `/openapi.json`: the description of the API for programs. `/docs`: the same for people. Both are made when they are first asked for. */
export function documentRoutes(router: Router<State>, createDocument: () => JsonObject): void {
  let document: JsonObject | undefined;
  const describe = () => {
    document ??= createDocument();
    return document;
  };
  router.get(
    '/openapi.json',
    answerDocument('application/json', () => JSON.stringify(describe()), {
      'access-control-allow-origin': '*',
    }),
  );
  router.get(
    '/docs',
    answerDocument('html', () => renderDocs(describe()), {
      'content-security-policy': contentSecurityPolicy(),
    }),
  );
}

/** Answers with a text that stays the same as long as the process runs: compressed once, with an entity tag for each form of it. */
function answerDocument(type: string, write: () => string, headers: Record<string, string>): Middleware {
  let made: { hash: string; identity: string; gzip: Buffer } | undefined;
  const make = () => {
    const text = write();
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    return { hash, identity: text, gzip: gzipSync(text) };
  };
  return (ctx) => {
    made ??= make();
    const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    const etag = `"${made.hash}.${encoding}"`;
    ctx.set({ ...headers, etag, vary: 'Accept-Encoding', 'cache-control': 'public, max-age=300' });
    if (matchesEtag(ctx.get('if-none-match'), etag, true)) {
      ctx.status = 304;
      return;
    }
    ctx.type = type;
    if (encoding === 'gzip') ctx.set('content-encoding', 'gzip');
    ctx.body = made[encoding];
  };
}
