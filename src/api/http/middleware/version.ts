import { announcements, resolveVersion } from '../../../domain/http/versions.js';
import type { Middleware } from '../context.js';

/** Refuses paths that do not begin with a living version, and announces the end of one that is due to be withdrawn. */
export const checkVersion: Middleware = (ctx, next) => {
  ctx.set(announcements(resolveVersion(ctx.path.split('/')[1] ?? '')));
  return next();
};
