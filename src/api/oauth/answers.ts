import type Koa from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { SCOPES } from '../../domain/access/api-key.js';
import { profileOfSubject } from '../../domain/access/subject.js';
import type { ApiDependencies } from '../http/context.js';
import { INTERACTION_PATH, type Pages } from './pages.js';

/** Seconds after which a caller may try again while the database is out of reach. */
export const RETRY_AFTER_S = 2;

/**
 * Adds to the library's responses what it leaves out: headers that protect pages, and metadata that speaks of OAuth
 * alone.
 */
export function completeAnswers(provider: Provider, pages: Pages): void {
  provider.use(async (ctx, next) => {
    const headers = pages.headers();
    // The library adds to an existing `script-src` the hash of the one script that it sends: the one that submits a
    // form_post.
    ctx.set({ ...headers, 'content-security-policy': `${headers['content-security-policy']}; script-src` });
    await next();
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (oidc?.params?.['response_mode'] === 'form_post') allowFormPost(ctx as KoaContextWithOIDC);
    if (oidc?.route === 'introspection') nameProfile(ctx.body as { sub?: string });
    if (oidc?.route === 'discovery') ctx.body = withoutOpenId(ctx.body as Record<string, unknown>);
  });
}

/**
 * Answers errors of ours: `503 temporarily_unavailable` (RFC 6749, section 4.1.2.1) while the database is out of reach.
 */
export function answerErrors(
  provider: Provider,
  { logger, isUnavailable }: ApiDependencies,
  pages: Pages,
): void {
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: Error) => {
    if (!isUnavailable(error)) {
      logger.error({ err: { name: error.name, stack: error.stack } }, 'OAuth: an unexpected error');
      return;
    }
    logger.warn({ err: { name: error.name } }, 'OAuth: the database is out of reach');
    answerUnavailable(ctx, pages);
  });
}

/** Answers that the database is out of reach, by a page if a person asks. */
export function answerUnavailable(
  ctx: Pick<Koa.Context, 'accepts' | 'set' | 'status' | 'type' | 'body' | 'path'>,
  pages: Pages,
): void {
  ctx.status = 503;
  ctx.set({ ...pages.headers(), 'retry-after': String(RETRY_AFTER_S) });
  // Only people ask for the login's pages, whatever their browser says that it accepts.
  if (ctx.path.startsWith(INTERACTION_PATH) || ctx.accepts('json', 'html') === 'html') {
    ctx.type = 'html';
    ctx.body = pages.unavailable();
    return;
  }
  ctx.body = {
    error: 'temporarily_unavailable',
    error_description: `Try again in ${RETRY_AFTER_S} seconds.`,
  };
}

/** The page for an error of a request that a browser made. */
export function renderErrorPage(pages: Pages, error: { error: string; error_description?: string }): string {
  const reason = error.error_description ?? error.error;
  return pages.message(
    'This request is not valid',
    `Go back to the application and try again. Reason: ${reason}.`,
  );
}

/** Lets the page that posts the response to the client (`response_mode=form_post`) do so. */
function allowFormPost(ctx: KoaContextWithOIDC): void {
  const { client, params } = ctx.oidc;
  const redirectUri = params?.['redirect_uri'];
  if (typeof redirectUri !== 'string' || !client?.redirectUriAllowed(redirectUri)) return;
  const policy = String(ctx.response.get('content-security-policy'));
  ctx.set(
    'content-security-policy',
    policy.replace("form-action 'self'", `form-action ${new URL(redirectUri).origin}`),
  );
}

/** A subject is ours to know; others know the profile. */
function nameProfile(introspection: { sub?: string }): void {
  if (introspection.sub !== undefined) introspection.sub = profileOfSubject(introspection.sub);
}

/** The library describes itself as an OpenID provider, whatever is switched off. */
function withoutOpenId(metadata: Record<string, unknown>): Record<string, unknown> {
  const rest = Object.entries(metadata).filter(
    ([name]) => !/^(id_token|claim|subject_types|acr_values)/.test(name),
  );
  return { ...Object.fromEntries(rest), scopes_supported: SCOPES };
}
