import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import { matchesEtag } from '../../domain/http/etag.js';
import type { ApiDependencies, Middleware, State } from '../http/context.js';
import { BuiltSite } from '../web/built-site.js';
import { REFERENCE_FOLDER } from '../web/web-files.js';
import { pathOf } from '../web/web-routes.js';
import type { JsonObject } from './json.js';

/**
 * What the reference may do: run its own script and style, call the API beside it, and show the pictures that stand in its style. Its
 * libraries write HTML (cleaned by DOMPurify) into the page, so it cannot require trusted types.
 */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** `/openapi.json`: the description of the API for programs. `/docs`: the same for people, shown by Swagger UI. */
export function documentRoutes(
  router: Router<State>,
  { publicUrl }: Pick<ApiDependencies, 'publicUrl'>,
  createDocument: () => JsonObject,
): void {
  router.get(
    '/openapi.json',
    answerDocument('application/json', async () => JSON.stringify(createDocument()), {
      'access-control-allow-origin': '*',
    }),
  );
  const reference = new BuiltSite(REFERENCE_FOLDER, `${pathOf(publicUrl)}/docs/assets`);
  router.get(
    '/docs',
    answerDocument('html', () => reference.page('/docs'), {
      'content-security-policy': REFERENCE_POLICY,
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
    }),
  );
  router.get('/docs/assets/:name', reference.sendAsset);
}

/**
 * Answers with a text that stays the same as long as the process runs: written when it is first asked for, compressed once, with an entity
 * tag for each form of it.
 */
function answerDocument(
  type: string,
  write: () => Promise<string>,
  headers: Record<string, string>,
): Middleware {
  let made: Promise<{ hash: string; identity: string; gzip: Buffer }> | undefined;
  const make = async () => {
    const text = await write();
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    return { hash, identity: text, gzip: gzipSync(text) };
  };
  return async (ctx) => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    const document = await made;
    const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    const etag = `"${document.hash}.${encoding}"`;
    ctx.set({ ...headers, etag, vary: 'Accept-Encoding', 'cache-control': 'public, max-age=300' });
    if (matchesEtag(ctx.get('if-none-match'), etag, true)) {
      ctx.status = 304;
      return;
    }
    ctx.type = type;
    if (encoding === 'gzip') ctx.set('content-encoding', 'gzip');
    ctx.body = document[encoding];
  };
}
