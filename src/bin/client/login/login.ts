import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oauth from 'oauth4webapi';
import { childEnvironment } from '../../../../packages/embedded-servers/src/index.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { CommandError, type Values } from '../../command.js';
import { checkUrl, DEFAULT_URL } from '../connection.js';
import { note, plain, print } from '../terminal.js';
import { discover } from './server.js';
import { loginFile, readLogin, removeLogin, writeLogin } from './store.js';
import { loginFrom } from './tokens.js';

/** Scopes that the commands need. */
const DEFAULT_SCOPES =
  'events:write deliveries:read deliveries:write endpoints:read endpoints:write profile:read';
/** How long the person may take, milliseconds. */
const LOGIN_LIMIT_MS = 10 * UNITS.m;

/**
 * Logs a person in by OAuth: authorization code with PKCE (RFC 7636) and a redirect to this machine (RFC 8252, section
 * 7.3).
 */
export async function login(values: Values): Promise<void> {
  const kept = await readLogin();
  const url = checkUrl(String(values['url'] ?? process.env['HOOKLINE_URL'] ?? kept?.url ?? DEFAULT_URL));
  const client_id = String(values['client'] ?? process.env['HOOKLINE_OAUTH_CLIENT'] ?? kept?.client_id ?? '');
  if (!client_id) {
    throw new CommandError(
      'Name the OAuth client of your account: hookline login --client client_… (docs/command-line.md says how to make one)',
    );
  }
  const { as, options, client, auth } = await discover({ url, client_id });
  const callback = await listenForRedirect();
  try {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const address = new URL(as.authorization_endpoint ?? '');
    address.search = new URLSearchParams({
      client_id,
      redirect_uri: callback.uri,
      response_type: 'code',
      scope: String(values['scope'] ?? DEFAULT_SCOPES),
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    print(`Log in with your browser at\n\n  ${plain(address.href)}\n`);
    if (values['no-browser'] !== true) openBrowser(address.href);
    const parameters = oauth.validateAuthResponse(as, client, await callback.redirect, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([as, client, auth, parameters, callback.uri, verifier, options] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, response);
    await writeLogin(loginFrom(tokens, { url, client_id }));
    print(`Logged in at ${plain(url)}. The login is kept in ${loginFile()}.`);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)
      throw new CommandError(`The login was refused: ${error.error_description ?? error.error}.`);
    throw error;
  } finally {
    callback.close();
  }
}

/** Ends the login that is kept, here and at the server. */
export async function logout(): Promise<void> {
  const kept = await readLogin();
  await removeLogin();
  if (!kept) return print('There was no login.');
  try {
    const { as, options, client, auth } = await discover(kept);
    const token = kept.refresh_token ?? kept.access_token;
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, auth, token, options));
  } catch (error) {
    note(`The server could not be told (${plain((error as Error).message)}): its tokens end by themselves.`);
  }
  print(`Logged out of ${plain(kept.url)}.`);
}

/** Waits on this machine for the browser to come back, at a port that the system chooses. */
async function listenForRedirect(): Promise<{ uri: string; redirect: Promise<URL>; close(): void }> {
  const came = new EventEmitter<{ redirect: [URL] }>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', uri);
    const isCallback = url.pathname === '/callback' && request.method === 'GET';
    response.writeHead(isCallback ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    });
    response.end(isCallback ? 'You can close this window and go back to the terminal.\n' : 'Not found\n');
    if (isCallback) came.emit('redirect', url);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const redirect = once(came, 'redirect', { signal: AbortSignal.timeout(LOGIN_LIMIT_MS) }).then(
    ([url]) => url as URL,
    () => {
      throw new CommandError('Nobody logged in within ten minutes.');
    },
  );
  redirect.catch(() => {}); // Nobody waits for it after another error.
  return {
    uri,
    redirect,
    close: () => {
      server.close();
      // Browsers open connections before they have a request for them.
      server.closeAllConnections();
    },
  };
}

const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** By which a browser finds the screen and its settings. */
const OF_DESKTOPS = [
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'DESKTOP_SESSION', 'BROWSER'],
  ...['KDE_*', 'GNOME_*', 'MOZ_*', 'WSL*', 'PROGRAMFILES*', 'PROGRAMDATA', 'SYSTEMDRIVE'],
];

/** Opens the page if the machine has a browser; the address is printed in any case. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], {
    stdio: 'ignore',
    detached: true,
    env: childEnvironment(OF_DESKTOPS),
  });
  child.on('error', () => {});
  child.unref();
}
