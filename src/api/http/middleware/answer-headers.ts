import { UNITS } from '../../../domain/basics/duration.js';
import { announcements, resolveVersion } from '../../../domain/http/versions.js';
import type { Middleware } from '../context.js';

/** Headers of a response that a script of another origin may read, besides those that CORS always allows. */
const EXPOSED = [
  ...['ETag', 'Location', 'Retry-After', 'x-request-id', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'WWW-Authenticate'],
].join(', ');

/**
 * Sets the headers that every response has, and answers preflights. Resources are open to scripts of every origin
 * (CORS, the Fetch standard): callers are known by their tokens alone, never by a cookie that a browser would add by
 * itself.
 */
export const setAnswerHeaders: Middleware = async (ctx, next) => {
  ctx.set('x-content-type-options', 'nosniff');
  if (!VERSIONED.test(ctx.path)) return await next();
  ctx.set({ 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED });
  if (ctx.method !== 'OPTIONS' || ctx.get('access-control-request-method') === '') return await next();
  ctx.set({
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    // The wildcard does not cover Authorization.
    'access-control-allow-headers': 'Authorization, *',
    // Seconds: a browser may remember it for a day.
    'access-control-max-age': String(UNITS.d / UNITS.s),
  });
  ctx.status = 204;
};

/** Paths of resources. */
export const VERSIONED = /^\/v\d/;

/**
 * Refuses paths that do not begin with a current version, and announces the end of a version that will be withdrawn.
 */
export const checkVersion: Middleware = (ctx, next) => {
  ctx.set(announcements(resolveVersion(ctx.path.split('/')[1] ?? '')));
  return next();
};
