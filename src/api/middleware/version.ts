import { resolveVersion } from '../../domain/versions.js';
import type { Middleware } from '../context.js';

/** Refuses paths that do not begin with a living version, and announces the end of one that is due to be withdrawn. */
export const checkVersion: Middleware = async (ctx, next) => {
  const version = resolveVersion(ctx.path.split('/')[1] ?? '');
  // RFC 9745 and RFC 8594.
  if (version.deprecated_at)
    ctx.set('deprecation', `@${Math.floor(version.deprecated_at.getTime() / 1_000)}`);
  if (version.sunset_at) ctx.set('sunset', version.sunset_at.toUTCString());
  await next();
};
