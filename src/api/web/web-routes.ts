import type Router from '@koa/router';
import type { ApiDependencies, Context, State } from '../http/context.js';
import { BuiltSite } from './built-site.js';
import { WEB_FOLDER } from './web-files.js';

/**
 * What the page may do: load scripts, styles and pictures of ours, and call the API beside it. No script or style stands in the page,
 * so none needs a hash.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of the page: nothing of it is kept, framed or passed on. Its address may have an id in it, never a token. */
const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** `/portal` and `/desk`: the web application, and the way there from `/` for a browser. It is files alone; all that it does, it does through the API. */
export function webRoutes(router: Router<State>, { publicUrl }: Pick<ApiDependencies, 'publicUrl'>): void {
  const site = new BuiltSite(WEB_FOLDER, `${pathOf(publicUrl)}/web/assets`);
  const showPage = async (ctx: Context) => {
    ctx.body = await site.page(ctx.path);
    ctx.set(PAGE_HEADERS);
    ctx.type = 'html';
  };
  for (const role of ['/portal', '/desk']) {
    router.get(role, showPage);
    router.get(`${role}/*rest`, showPage);
  }
  router.get('/web/assets/:name', site.sendAsset);
  router.get('/', (ctx, next) => {
    if (ctx.accepts('json', 'html') !== 'html') return next();
    return ctx.redirect(`${pathOf(publicUrl)}/portal`);
  });
}

/** The path of the public address, without a slash at its end. */
export function pathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/$/, '');
}
