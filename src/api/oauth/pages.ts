import type { Scope } from '../../domain/access/api-key.js';
import { escapeHtml, pagePolicy, renderHtmlPage } from '../http/html.js';

const STYLE = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem}
h1{font-size:1.4rem}label{display:block;margin-top:1rem}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem}
button{font:inherit;padding:.5rem 1rem;margin:1.5rem .5rem 0 0}
[role=alert]{border-left:.3rem solid #c00;padding-left:.7rem}code{overflow-wrap:anywhere}`;

/** What a scope allows, in words for the person who is asked. */
const MEANINGS: Record<Scope, string> = {
  'events:write': 'send events',
  'deliveries:read': 'read events and their deliveries',
  'deliveries:write': 'retry, cancel and resend deliveries',
  'endpoints:read': 'read endpoints',
  'endpoints:write': 'change endpoints',
  'profile:read': 'read your profile',
  'profiles:read': 'read all profiles of the account',
  'profiles:write': 'change all profiles of the account',
  'keys:read': 'read which keys and applications the account has',
  'keys:write': 'create and revoke keys and applications',
  'secrets:read': 'read signing secrets',
  admin: 'manage the whole installation',
};

/** What these pages may do. @param redirectUri where the client waits for the person */
export function contentSecurityPolicy(redirectUri: string | undefined): string {
  const target = redirectUri && URL.canParse(redirectUri) ? new URL(redirectUri).origin : undefined;
  return pagePolicy(STYLE, target);
}

/** The page where a person logs in. */
export function renderLogin(options: {
  uid: string;
  client: string;
  loginName: string;
  mistake?: string;
}): string {
  const { uid, client, loginName, mistake } = options;
  return renderHtmlPage(
    'Log in',
    STYLE,
    `${mistake ? `<p role="alert">${escapeHtml(mistake)}</p>` : ''}
<p>to go on to <strong>${escapeHtml(client)}</strong></p>
<form method="post" action="/oauth/interaction/${escapeHtml(uid)}/login">
<label for="login_name">Name</label>
<input id="login_name" name="login_name" value="${escapeHtml(loginName)}" autocomplete="username" autocapitalize="none" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Log in</button></form>${cancelForm(uid)}`,
  );
}

/** The page where a person allows a client something. */
export function renderConsent(options: {
  uid: string;
  client: string;
  person: string;
  scopes: readonly Scope[];
}): string {
  const { uid, client, person, scopes } = options;
  return renderHtmlPage(
    `Allow ${client}?`,
    STYLE,
    `<p>You are logged in as <strong>${escapeHtml(person)}</strong>. <strong>${escapeHtml(client)}</strong> asks to:</p>
<ul>${scopes.map((scope) => `<li>${escapeHtml(MEANINGS[scope])} <code>(${escapeHtml(scope)})</code></li>`).join('')}</ul>
<form method="post" action="/oauth/interaction/${escapeHtml(uid)}/consent"><button>Allow</button></form>${cancelForm(uid)}`,
  );
}

/** A page that says one thing. */
export function renderMessage(title: string, text: string): string {
  return renderHtmlPage(title, STYLE, `<p>${escapeHtml(text)}</p>`);
}

function cancelForm(uid: string): string {
  return `<form method="post" action="/oauth/interaction/${escapeHtml(uid)}/cancel"><button>Cancel</button></form>`;
}
