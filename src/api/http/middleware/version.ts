import { announcements, resolveVersion } from '../../../domain/http/versions.js';
import type { Middleware } from '../context.js';

/** Refuses paths that do not begin with a current version, and announces the end of a version that will be withdrawn. */
export const checkVersion: Middleware = (ctx, next) => {
  ctx.set(announcements(resolveVersion(ctx.path.split('/')[1] ?? '')));
  return next();
};
