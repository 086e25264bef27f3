import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import { once } from '../../domain/basics/at-most-every.js';
import type { ApiDependencies, State } from '../http/context.js';
import { answerFile, BuiltSite, REFERENCE_FOLDER, type WebFile, webFile } from '../web/web-files.js';
import { pathOf } from '../web/web-routes.js';
import type { JsonObject } from './json.js';

/**
 * Content security policy of the reference: run its own script and style, call the API beside it, and show the pictures
 * in its style. Its libraries write HTML (cleaned by DOMPurify) into the page, so it cannot require trusted types.
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
  const description = once(async () => compressed('application/json', JSON.stringify(createDocument())));
  router.get('/openapi.json', async (ctx) => {
    const file = await description();
    ctx.set('access-control-allow-origin', '*');
    answerFile(ctx, file, CACHE_CONTROL);
  });

  const site = new BuiltSite(REFERENCE_FOLDER, `${pathOf(publicUrl)}/docs/assets`);
  const reference = once(async () => compressed('html', await site.page('/docs')));
  router.get('/docs', async (ctx) => {
    const file = await reference();
    ctx.set({
      'content-security-policy': REFERENCE_POLICY,
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
    });
    answerFile(ctx, file, CACHE_CONTROL);
  });
  router.get('/docs/assets/:name', site.sendAsset);
}

const CACHE_CONTROL = 'public, max-age=300';

/** A text that stays the same as long as the process runs, compressed once. */
function compressed(type: string, text: string): WebFile {
  return webFile(type, Buffer.from(text), { gzip: gzipSync(text) });
}
