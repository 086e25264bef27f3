import type Router from '@koa/router';
import type { ApiDependencies, Context, State } from '../http/context.js';
import { logoOrigins, portalLook, withLook, withMeta } from './portal-look.js';
import { BuiltSite, WEB_FOLDER } from './web-files.js';

/**
 * Content security policy of the page: load scripts, styles and pictures of ours, and call the API beside it. No script
 * or style stands in the page, so none needs a hash.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * Headers of a page: nothing of it is kept or passed on, and nobody frames it but who may. Its address may have an id
 * in it, never a token.
 *
 * @param ancestors origins whose pages may show it in a frame
 * @param pictures origins that pictures may come from, besides ours
 */
export function pageHeaders(
  ancestors: readonly string[],
  pictures: readonly string[] = [],
): Record<string, string> {
  const frames = ancestors.length === 0 ? "'none'" : ancestors.join(' ');
  return {
    'content-security-policy': [
      ...POLICY,
      ["img-src 'self'", ...pictures].join(' '),
      `frame-ancestors ${frames}`,
    ].join('; '),
    // It knows no list of origins; browsers heed the policy in its place.
    ...(ancestors.length === 0 && { 'x-frame-options': 'DENY' }),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/**
 * `/portal` and `/desk`: the web application, and the way there from `/` for a browser. It is files alone; all that it
 * does, it does through the API.
 */
export function webRoutes(
  router: Router<State>,
  { publicUrl, settings }: Pick<ApiDependencies, 'publicUrl' | 'settings'>,
): void {
  const site = new BuiltSite(WEB_FOLDER, `${pathOf(publicUrl)}/web/assets`);
  const look = portalLook(settings);
  const signIn = { single_sign_on: settings.HOOKLINE_OIDC_ISSUER !== undefined };
  const limits = { park_limit_ms: settings.HOOKLINE_PARK_LIMIT };
  for (const role of ['/portal', '/desk']) {
    const isPortal = role === '/portal';
    const headers = isPortal
      ? pageHeaders(settings.HOOKLINE_PORTAL_FRAME_ANCESTORS, logoOrigins(settings))
      : pageHeaders([]);
    const showPage = async (ctx: Context) => {
      const page = withMeta(await site.page(ctx.path), 'hookline-limits', limits);
      ctx.body = isPortal ? withLook(page, look) : withMeta(page, 'hookline-sign-in', signIn);
      ctx.set(headers);
      ctx.type = 'html';
    };
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
  return new URL(publicUrl).pathname.replace(/\/+$/, '');
}
