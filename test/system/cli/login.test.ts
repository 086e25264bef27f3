import { equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, logInAndAllow, newPerson } from '../../support/oauth.js';
import { OAuthApplication } from '../../support/outside/oauth-application.js';
import { inProcess } from '../../support/programs/command.js';
import { startCommand } from '../../support/programs/process.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const SCOPES = [
  'events:write',
  'deliveries:read',
  'deliveries:write',
  'endpoints:read',
  'endpoints:write',
  'profile:read',
];

describe('hookline login', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let clientId: string;
  const home = mkdtempSync(join(tmpdir(), 'hookline-login-'));
  const file = join(home, 'hookline', 'login.json');
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    const application = await OAuthApplication.register(client, {
      name: 'hookline command line',
      scopes: SCOPES,
      redirect_uris: ['http://127.0.0.1/callback'],
    });
    clientId = application.id;
  });

  const start = (command: string, by: typeof inProcess | typeof startCommand = inProcess) =>
    by(command.split(' '), { XDG_CONFIG_HOME: home, HOOKLINE_URL: system.url });
  async function run(command: string, code = 0, by?: typeof startCommand): Promise<string> {
    const { exited, lines } = start(command, by);
    equal(await exited, code, lines.join('\n'));
    return lines.join('\n');
  }
  const kept = () => JSON.parse(readFileSync(file, 'utf8'));

  it('lets commands act for the person, with a file that only the owner can read', async () => {
    match(await run('endpoints', 1), /Or log in: hookline login/);
    const person = await newPerson(system, client, SCOPES);
    const login = start(`login --client ${clientId} --no-browser`, startCommand);
    const lines = await until(
      () => login.lines,
      (all) => all.some((line) => line.includes('/oauth/authorize')),
    );
    const address = lines.find((line) => line.includes('/oauth/authorize'))?.trim() ?? '';
    const back = await logInAndAllow(new Browser(), address, person);
    // Somebody else's answer is not taken.
    await fetch(new URL('/other', back));
    // Browsers open connections before they have requests for them.
    const silent = connect(Number(new URL(back).port), '127.0.0.1');
    await once(silent, 'connect');
    equal((await fetch(back)).status, 200);
    equal(await login.exited, 0, login.lines.join('\n'));
    silent.destroy();
    equal(statSync(file).mode & 0o777, 0o600);
    match(await run('endpoints'), /No endpoints/);
  });

  it('gets a new token when the old one ends, once for several processes at the same time', async () => {
    const before = kept();
    writeFileSync(file, JSON.stringify({ ...before, expires_at: 0 }));
    const outputs = await Promise.all(
      ['endpoints', 'deliveries', 'endpoints'].map((command) => run(command, 0, startCommand)),
    );
    match(outputs.join(), /No endpoints.*No deliveries.*No endpoints/);
    equal(kept().access_token === before.access_token, false);
    equal(readdirSync(join(home, 'hookline')).join(), 'login.json');
  });

  it('ends at the server, too', async () => {
    const { access_token } = kept();
    match(await run('logout'), /Logged out of/);
    equal(readdirSync(join(home, 'hookline')).length, 0);
    const me = async () =>
      (await fetch(`${system.url}/v18.0/me`, { headers: { authorization: `Bearer ${access_token}` } }))
        .status;
    await until(me, (status) => status === 401);
  });

  it('is refused with a reason', async () => {
    match(await run('login --no-browser', 1), /Name the OAuth client of your account/);
    match(await run('login --client x --url http://127.0.0.1:9', 1), /There is no Hookline server at/);
    const login = start(`login --client ${clientId} --scope keys:write --no-browser`);
    const address = await until(
      () => login.lines.find((line) => line.includes('/oauth/authorize'))?.trim(),
      (found) => found !== undefined,
    );
    const { left } = await new Browser().go(address ?? '');
    await fetch(left ?? '');
    equal(await login.exited, 1);
    match(login.lines.join('\n'), /The login was refused: requested scope is not allowed/);
  });
});
