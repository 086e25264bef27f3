import type Router from '@koa/router';
import { PROBLEMS, type ProblemCode } from '../../domain/http/problems.js';
import type { Context, State } from '../http/context.js';
import { escapeHtml, pagePolicy, renderHtmlPage } from '../http/html.js';

/**
 * `/errors/{code}`: where the `type` of a problem leads (RFC 9457, section 3.1.1), what it means and what to do.
 * `/errors`: all of them.
 */
export function errorRoutes(router: Router<State>): void {
  router.get('/errors', (ctx) => showPage(ctx, 'Errors', listOf(codes)));
  router.get('/errors/:code', (ctx) => {
    const code = codes.find((known) => known === ctx['params']['code']);
    if (code)
      showPage(ctx, PROBLEMS[code][1], `${adviceOn(code)}\n<p><a href="../errors">All errors</a></p>`);
  });
}

const codes = Object.keys(PROBLEMS) as ProblemCode[];

function listOf(listed: readonly ProblemCode[]): string {
  const rows = listed.map((code) => {
    const [status, title] = PROBLEMS[code];
    return `<li><a href="errors/${code}"><code>${code}</code></a> ${status}: ${escapeHtml(title)}</li>`;
  });
  return `<ul>\n${rows.join('\n')}\n</ul>`;
}

function adviceOn(code: ProblemCode): string {
  const [status, , advice] = PROBLEMS[code];
  return `<p>HTTP status ${status}, code <code>${code}</code>.</p>\n<p>${htmlOf(advice)}</p>`;
}

/**
 * HTML of the Markdown in the texts. Their links lead to files that are not served, so that only what they say is left.
 */
function htmlOf(markdown: string): string {
  return escapeHtml(markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')).replace(
    /`([^`]+)`/g,
    '<code>$1</code>',
  );
}

function showPage(ctx: Context, title: string, body: string): void {
  ctx.body = renderHtmlPage(title, body);
  ctx.set({
    'content-security-policy': pagePolicy(),
    'x-frame-options': 'DENY',
    'cache-control': 'public, max-age=300',
  });
  ctx.type = 'html';
}
