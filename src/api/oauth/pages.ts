import type { Scope } from '../../domain/access/api-key.js';
import { parseUrl } from '../../domain/basics/parse-url.js';
import { logoOrigin, type PortalLook } from '../../domain/look/portal-look.js';
import { escapeHtml, pagePolicy, renderHtmlPage } from '../http/html.js';
import { colorStyle } from '../web/portal-look.js';

/** Where people log in and consent. */
export const INTERACTION_PATH = '/oauth/interaction';

/** Descriptions of scopes for the person who is asked. */
const MEANINGS: Record<Scope, string> = {
  'events:write': 'Send events',
  'deliveries:read': 'Read events and their deliveries',
  'deliveries:write': 'Retry, cancel and resend deliveries',
  'endpoints:read': 'Read endpoints',
  'endpoints:write': 'Create, change and delete endpoints',
  'profile:read': 'Read your profile',
  'profiles:read': 'Read all profiles of the account',
  'profiles:write': 'Change all profiles of the account',
  'keys:read': 'List the API keys and applications of the account',
  'keys:write': 'Create and revoke API keys and applications of the account',
  'secrets:read': 'Read signing secrets',
  'changes:read': 'Read who changed what in the account',
  platform: 'Make and delete accounts of the platform, and act for them',
  'subjects:write': 'Erase the payloads of events about a person, for good',
  admin: 'Manage the whole installation',
};

/** Headers and text of the pages that people see, in the look of the installation: no account is known yet. */
export class Pages {
  /** Name of the service. */
  readonly name: string;
  private readonly logoUrl: string | undefined;
  private readonly style: string;

  constructor(look: PortalLook) {
    this.name = look.name ?? 'Hookline';
    this.logoUrl = look.logo_url;
    this.style = colorStyle(look);
  }

  /**
   * Headers of every page: no scripts, no frames, no cache, and no address passed on.
   *
   * @param redirectUri where the client waits for the person, if a form of the page may lead there
   */
  headers(redirectUri?: string): Record<string, string> {
    return {
      'content-security-policy': pagePolicy({
        style: this.style,
        formTarget: redirectUri === undefined ? undefined : parseUrl(redirectUri)?.origin,
        pictures: this.logoUrl === undefined ? undefined : logoOrigin(this.logoUrl),
      }),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    };
  }

  /** The page where a person logs in. @param options `path`: of the interaction */
  login(options: { path: string; client: string; loginName: string; mistake?: string }): string {
    const { path, client, loginName, mistake } = options;
    return this.render(
      'Log in',
      `${mistake ? `<p role="alert">${escapeHtml(mistake)}</p>` : ''}
<p>Log in to continue to <strong>${escapeHtml(client)}</strong>.</p>
<form method="post" action="${escapeHtml(path)}/login">
<label for="login_name">Name</label>
<input id="login_name" name="login_name" value="${escapeHtml(loginName)}" autocomplete="username" autocapitalize="none" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Log in</button></form>${cancelForm(path, 'Cancel')}`,
    );
  }

  /** The page where a person allows a client something. @param options `path`: of the interaction */
  consent(options: { path: string; client: string; person: string; scopes: readonly Scope[] }): string {
    const { path, client, person, scopes } = options;
    const who = `<p>You are logged in as <strong>${escapeHtml(person)}</strong>.`;
    if (scopes.length === 0) {
      return this.render(
        'Your login does not allow this',
        `${who} <strong>${escapeHtml(client)}</strong> asks for access that you cannot give. Ask the person who manages your login.</p>
${cancelForm(path, 'Go back')}`,
      );
    }
    return this.render(
      `Allow ${client}?`,
      `${who} <strong>${escapeHtml(client)}</strong> wants to:</p>
<ul>${scopes.map((scope) => `<li>${escapeHtml(MEANINGS[scope])} <code>(${escapeHtml(scope)})</code></li>`).join('')}</ul>
<form method="post" action="${escapeHtml(path)}/consent"><button>Allow</button></form>${cancelForm(path, 'Cancel')}`,
    );
  }

  /** A page that says one thing. */
  message(title: string, text: string): string {
    return this.render(title, `<p>${escapeHtml(text)}</p>`);
  }

  /** Page for a person while the database is out of reach. */
  get outOfReach(): { title: string; text: string } {
    return { title: `${this.name} is not available`, text: 'Wait a few seconds, then load this page again.' };
  }

  /** The page for a database that is out of reach. */
  unavailable(): string {
    const { title, text } = this.outOfReach;
    return this.message(title, text);
  }

  /** A page in the design of the web application. */
  private render(title: string, body: string): string {
    const logo = this.logoUrl === undefined ? '' : `<img src="${escapeHtml(this.logoUrl)}" alt="">`;
    const brand = `<p class="brand">${logo}${escapeHtml(this.name)}</p>`;
    return renderHtmlPage(title, `${body}\n${brand}`, this.name, this.style);
  }
}

function cancelForm(path: string, label: string): string {
  return `<form class="cancel" method="post" action="${escapeHtml(path)}/cancel"><button>${label}</button></form>`;
}
