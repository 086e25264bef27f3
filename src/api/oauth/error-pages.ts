import { QueueFullError } from '../../domain/basics/bounded-queue.js';
import { Problem } from '../../domain/http/problem.js';
import type { ApiDependencies, Middleware, State } from '../http/context.js';
import { RETRY_AFTER_S } from './answers.js';
import type { Pages } from './pages.js';

/** A page that tells a person why they cannot go on, and what to do. */
export class ErrorPage extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  /** @param text what happened, and what to do */
  constructor(status: number, title: string, text: string, headers: Record<string, string> = {}) {
    super(text);
    this.name = 'ErrorPage';
    this.status = status;
    this.title = title;
    this.headers = headers;
  }
}

/** The login has ended, or belongs to another browser. */
export const loginEnded = () =>
  new ErrorPage(404, 'This login has ended', 'Go back to the application and log in again.');

/** Answers every error of the pages that people see as a page. */
export function answerErrorPages({ isUnavailable, logger }: ApiDependencies, pages: Pages): Middleware {
  const toPage = (error: unknown, { request_id, uncount }: State): ErrorPage => {
    if (error instanceof ErrorPage) return error;
    if (error instanceof QueueFullError) {
      const text = 'Many people are logging in at the moment. Wait a few seconds, then load this page again.';
      return new ErrorPage(503, 'Please wait', text, { 'retry-after': String(RETRY_AFTER_S) });
    }
    if (error instanceof Problem)
      return new ErrorPage(error.status, error.title, error.message, error.headers);
    if (isUnavailable(error)) {
      uncount?.();
      logger.warn({ request_id }, 'OAuth: the database is out of reach');
      const { title, text } = pages.outOfReach;
      return new ErrorPage(503, title, text, { 'retry-after': String(RETRY_AFTER_S) });
    }
    logger.error({ request_id, err: error }, 'OAuth: an unexpected error');
    return new ErrorPage(500, 'Something went wrong', `Try again. If it happens again, quote ${request_id}.`);
  };
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const page = toPage(error, ctx.state);
      ctx.status = page.status;
      ctx.set({ ...pages.headers(), ...page.headers });
      ctx.type = 'html';
      ctx.body = pages.message(page.title, page.message);
    }
  };
}
