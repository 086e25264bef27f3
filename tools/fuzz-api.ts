import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { migrate } from '../src/bin/migrate.js';
import { startService } from '../src/bin/service.js';
import { loadSettings } from '../src/config/load.js';
import { SCOPES } from '../src/domain/access/api-key.js';
import { newSecretKey } from '../src/domain/access/secret-box.js';
import { userCacheDir } from '../src/embedded/binaries/find-binary.js';
import { startMongo, startTemporal } from '../src/embedded/index.js';
import { connectDatabase, type Database } from '../src/models/database.js';
import { BUNDLE_PATH, buildWorkflowBundle } from '../src/temporal/server/bundle.js';
import { installRuntime } from '../src/temporal/server/connection.js';

/**
 * Has schemathesis (Python) try the API against its own OpenAPI document, with all of its checks, on servers of its own: `npm run fuzz:api`.
 * It is installed once, into the user's cache folder. Further arguments go to `schemathesis run`.
 */
const VERSION = '4.32.5';
/** The whole run, seconds. */
const MAX_TIME_S = 60;

const say = (line: string) => process.stderr.write(`${line}\n`);

function install(): string {
  const folder = join(userCacheDir(), `schemathesis-${VERSION}`);
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', folder],
    [join(folder, 'bin', 'pip'), 'install', '--quiet', `schemathesis==${VERSION}`],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed; Python 3.10 or later is needed`);
  }
  return program;
}

async function fuzz(program: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-fuzz-'));
  const namespace = 'fuzz';
  installRuntime(pino({ level: 'silent' }), undefined);
  const [temporal, mongo] = await Promise.all([
    startTemporal({ dataDir: folder, namespace, port: 0, uiPort: undefined, report: say, persistent: false }),
    startMongo({ dataDir: folder, port: 0, report: say }),
    buildWorkflowBundle(BUNDLE_PATH),
  ]);
  const settings = loadSettings({
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: namespace,
    MONGODB_URI: mongo.uri,
    HOOKLINE_PORT: '0',
    HOOKLINE_LOG_LEVEL: 'error',
    HOOKLINE_SECRET_KEYS: newSecretKey(),
    HOOKLINE_ENDPOINT_VERIFICATION: 'off',
    HOOKLINE_RATE_LIMIT_STORE: 'memory',
    HOOKLINE_RATE_LIMIT_TOKEN: '1000000/1m',
    HOOKLINE_RATE_LIMIT_ACCOUNT: '1000000/1m',
    HOOKLINE_RATE_LIMIT_ADDRESS: '1000000/1m',
  });
  await migrate(settings, () => {});
  const service = await startService(settings, 'all', pino({ level: 'error' }, pino.destination(2)));
  const database = await connectDatabase(mongo.uri);
  try {
    const account = await database.accounts.create('fuzz');
    const token = await issueToken(database, account.id);
    await writeFile(join(folder, 'schemathesis.toml'), CONFIGURATION);
    await writeFile(join(folder, 'openapi.json'), await readDocument(`${service.url}/openapi.json`));
    const args = ['--config-file', 'schemathesis.toml', 'run', 'openapi.json', '--url', service.url ?? ''];
    const authorization = ['-H', `Authorization: Bearer ${token}`];
    const options = ['--continue-on-failure', '--workers', '2'];
    const time = ['--max-time', String(MAX_TIME_S)];
    return await exitCode(
      program,
      [...args, ...authorization, ...options, ...time, ...process.argv.slice(2)],
      folder,
    );
  } finally {
    await database.close();
    await service.stop();
    await Promise.all([temporal.stop(), mongo.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * What JSON Schema cannot say: that a cursor is one that was given, a time is to come, a duration has bounds, a schema is one, or two
 * settings go together. For these operations
 * it is not checked that everything that matches the schema is accepted. And that a precondition fails is no mistake of the API's.
 */
const BEYOND_SCHEMA = [
  ...['accounts', 'api_keys', 'deliveries', 'endpoints', 'events', 'oauth_clients', 'profiles'].map(
    (list) => `GET /v18.0/${list}`,
  ),
  'POST /v18.0/events/{kind_or_id}',
  'POST /v18.0/api_keys',
  'POST /v18.0/endpoints',
  'PUT /v18.0/endpoints/{id}',
  'POST /v18.0/oauth_clients',
  'PUT /v18.0/oauth_clients/{id}',
  'POST /v18.0/oauth_clients/{id}/secret/rotate',
  'POST /v18.0/endpoints/{id}/secret/rotate',
  'POST /v18.0/event_kinds',
  'PUT /v18.0/event_kinds/{name}',
];
const off = (operation: string, check: string) =>
  `[[operations]]\ninclude-name = "${operation}"\nchecks.${check}.enabled = false\n`;
// No --checks on the command line: all of them are the default, and it would overrule what stands here.
const CONFIGURATION = `[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 412, 429]

# A body that is too large is refused before it is looked at, whatever is wrong with it.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429, "5xx"]

${BEYOND_SCHEMA.map((name) => off(name, 'positive_data_acceptance')).join('\n')}
# A new profile has no login yet.
${['GET', 'DELETE'].map((method) => off(`${method} /v18.0/profiles/{id}/login`, 'ensure_resource_availability')).join('\n')}`;

/** The document as it is served, with one of the ways to send a token: schemathesis tries all at once, which is refused as it must be. */
async function readDocument(url: string): Promise<string> {
  const text = await (await fetch(url)).text();
  return text.replaceAll('{"access_token":[]},', '');
}

/** An access token of no registered client: an API key would sooner or later be revoked by the fuzzer itself. */
async function issueToken(database: Database, accountId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const lifetime = 3_600;
  await database.oauthRecords.save(
    'ClientCredentials',
    token,
    {
      clientId: 'fuzz',
      extra: { account_id: accountId },
      scope: SCOPES.join(' '),
      exp: Math.floor(Date.now() / 1_000) + lifetime,
    },
    lifetime,
  );
  return token;
}

function exitCode(program: string, args: readonly string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', cwd });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

process.exitCode = await fuzz(install());
