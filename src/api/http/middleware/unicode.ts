import { toJson } from '../../../domain/text/unicode.js';
import type { Middleware } from '../context.js';

/** Writes what is answered as JSON in well-formed Unicode, whatever was stored once, or found in a payload. */
export const writeUnicode: Middleware = async (ctx, next) => {
  await next();
  const { body } = ctx;
  if (isJson(body)) ctx.body = toJson(body);
};

/** Whether Koa itself would make JSON of a body. */
function isJson(body: unknown): body is object {
  if (Array.isArray(body)) return true;
  return typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype;
}
