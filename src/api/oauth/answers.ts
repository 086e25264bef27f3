import type Koa from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from 'pino';
import { SCOPES } from '../../domain/access/api-key.js';
import { profileOfSubject } from '../../domain/access/subject.js';
import { contentSecurityPolicy, INTERACTION_PATH, renderMessage } from './pages.js';

/** Seconds after which a caller may try again while the database is out of reach. */
export const RETRY_AFTER_S = 2;

/**
 * Headers of every page that a person sees: no scripts, no frames, no cache, and no address passed on.
 *
 * @param redirectUri where the client waits for the person, if a form of the page may lead there
 */
export function pageHeaders(redirectUri?: string): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(redirectUri),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
}

/** Adds to the library's answers what it leaves out: headers that protect pages, and metadata that speaks of OAuth alone. */
export function completeAnswers(provider: Provider): void {
  provider.use(async (ctx, next) => {
    const headers = pageHeaders();
    // The library adds to an existing `script-src` the hash of the one script that it sends: the one that submits a form_post.
    ctx.set({ ...headers, 'content-security-policy': `${headers['content-security-policy']}; script-src` });
    await next();
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (oidc?.params?.['response_mode'] === 'form_post') allowFormPost(ctx as KoaContextWithOIDC);
    if (oidc?.route === 'introspection') nameProfile(ctx.body as { sub?: string });
    if (oidc?.route === 'discovery') ctx.body = withoutOpenId(ctx.body as Record<string, unknown>);
  });
}

/** Answers errors of ours: `503 temporarily_unavailable` (RFC 6749, section 4.1.2.1) while the database is out of reach. */
export function answerErrors(
  provider: Provider,
  { logger, isUnavailable }: { logger: Logger; isUnavailable: (error: unknown) => boolean },
): void {
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: Error) => {
    if (!isUnavailable(error)) {
      logger.error({ err: { name: error.name, stack: error.stack } }, 'OAuth: an unexpected error');
      return;
    }
    logger.warn({ err: { name: error.name } }, 'OAuth: the database is out of reach');
    answerUnavailable(ctx);
  });
}

/** Answers that the database is out of reach, by a page if a person asks. */
export function answerUnavailable(
  ctx: Pick<Koa.Context, 'accepts' | 'set' | 'status' | 'type' | 'body' | 'path'>,
): void {
  ctx.status = 503;
  ctx.set({ ...pageHeaders(), 'retry-after': String(RETRY_AFTER_S) });
  // Only people ask for the login's pages, whatever their browser says that it accepts.
  if (ctx.path.startsWith(INTERACTION_PATH) || ctx.accepts('json', 'html') === 'html') {
    ctx.type = 'html';
    ctx.body = renderMessage('Hookline is not available', 'Wait a few seconds, then load this page again.');
    return;
  }
  ctx.body = {
    error: 'temporarily_unavailable',
    error_description: `Try again in ${RETRY_AFTER_S} seconds.`,
  };
}

/** The page for an error of a request that a browser made. */
export function renderErrorPage(
  error: { error: string; error_description?: string },
  unavailable: boolean,
): string {
  if (unavailable) {
    return renderMessage('Hookline is not available', 'Wait a few seconds, then load this page again.');
  }
  const reason = error.error_description ?? error.error;
  return renderMessage(
    'This request is not valid',
    `Go back to the application and try again. Reason: ${reason}.`,
  );
}

/** Lets the page that posts the answer to the client (`response_mode=form_post`) do so. */
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
