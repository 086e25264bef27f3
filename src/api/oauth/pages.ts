import type { Scope } from '../../domain/access/api-key.js';
import { parseUrl } from '../../domain/basics/parse-url.js';
import { escapeHtml, pagePolicy, renderHtmlPage } from '../http/html.js';
import { pageStyle } from '../web/page-style.js';

/** Where people log in and consent. */
export const INTERACTION_PATH = '/oauth/interaction';

/** What a scope allows, for the person who is asked. */
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

/** What these pages may do. @param redirectUri where the client waits for the person */
export function contentSecurityPolicy(redirectUri: string | undefined): string {
  return pagePolicy(pageStyle(), redirectUri === undefined ? undefined : parseUrl(redirectUri)?.origin);
}

/** The page where a person logs in. @param options `path`: of the interaction */
export function renderLogin(options: {
  path: string;
  client: string;
  loginName: string;
  mistake?: string;
}): string {
  const { path, client, loginName, mistake } = options;
  return renderAlone(
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
export function renderConsent(options: {
  path: string;
  client: string;
  person: string;
  scopes: readonly Scope[];
}): string {
  const { path, client, person, scopes } = options;
  const who = `<p>You are logged in as <strong>${escapeHtml(person)}</strong>.`;
  if (scopes.length === 0) {
    return renderAlone(
      'Your login does not allow this',
      `${who} <strong>${escapeHtml(client)}</strong> asks for access that you cannot give. Ask the person who manages your login.</p>
${cancelForm(path, 'Go back')}`,
    );
  }
  return renderAlone(
    `Allow ${client}?`,
    `${who} <strong>${escapeHtml(client)}</strong> wants to:</p>
<ul>${scopes.map((scope) => `<li>${escapeHtml(MEANINGS[scope])} <code>(${escapeHtml(scope)})</code></li>`).join('')}</ul>
<form method="post" action="${escapeHtml(path)}/consent"><button>Allow</button></form>${cancelForm(path, 'Cancel')}`,
  );
}

/** A page that says one thing. */
export function renderMessage(title: string, text: string): string {
  return renderAlone(title, `<p>${escapeHtml(text)}</p>`);
}

function cancelForm(path: string, label: string): string {
  return `<form class="cancel" method="post" action="${escapeHtml(path)}/cancel"><button>${label}</button></form>`;
}

/** A page in the design of the web application. */
function renderAlone(title: string, body: string): string {
  return renderHtmlPage(title, pageStyle(), `${body}\n<p class="brand">Hookline</p>`);
}
