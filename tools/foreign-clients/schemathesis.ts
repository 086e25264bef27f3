import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCOUNT_HEADER } from '../../src/api/http/caller/acting-account.js';
import { pythonTool } from './python-tool.js';
import type { ForeignSystem } from './system.js';

export const SCHEMATHESIS = '4.32.5';

/**
 * Has schemathesis (Python) try the API against its own OpenAPI document, with all of its checks.
 *
 * @param seconds for the whole run
 * @param more arguments of `schemathesis run`
 * @returns its exit code, and what it printed
 */
export async function runSchemathesis(
  { url, token, folder }: ForeignSystem,
  seconds: number,
  more: readonly string[] = [],
): Promise<{ status: number; output: string }> {
  const { program } = await pythonTool('schemathesis', SCHEMATHESIS);
  const document = await readDocument(`${url}/openapi.json`);
  await writeFile(join(folder, 'schemathesis.toml'), configuration([...BEYOND_SCHEMA, ...listsOf(document)]));
  await writeFile(join(folder, 'openapi.json'), document);
  const args = ['--config-file', 'schemathesis.toml', 'run', 'openapi.json', '--url', url];
  // One worker: threads bring out a fault of Python 3.11 (SystemError: AST constructor recursion depth mismatch).
  const options = ['-H', `Authorization: Bearer ${token}`, '--continue-on-failure', '--workers', '1'];
  const child = spawn(program, [...args, ...options, '--max-time', String(seconds), ...more], {
    cwd: folder,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
      process.stderr.write(data);
    });
  }
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
  return { status, output };
}

/**
 * Operations with rules that JSON Schema cannot say: that a cursor is one that was given, a time is to come, a duration
 * has bounds, a schema is one, or two settings go together. For these operations it is not checked that everything that
 * matches the schema is accepted. And that a precondition fails is no mistake of the API's.
 */
const BEYOND_SCHEMA = [
  'GET /v18.0/endpoints/{id}',
  'GET /v18.0/explain',
  'GET /v18.0/log/proofs',
  'POST /v18.0/accounts',
  'PATCH /v18.0/accounts/{id}',
  'POST /v18.0/accounts/{id}/portal_sessions',
  'POST /v18.0/listeners',
  'POST /v18.0/replays',
  'POST /v18.0/events/{kind_or_id}',
  'POST /v18.0/api_keys',
  'POST /v18.0/endpoints',
  'PUT /v18.0/endpoints/{id}',
  'PATCH /v18.0/endpoints/{id}',
  'POST /v18.0/oauth_clients',
  'PUT /v18.0/oauth_clients/{id}',
  'POST /v18.0/oauth_clients/{id}/secret/rotate',
  'POST /v18.0/endpoints/{id}/secret/rotate',
  'POST /v18.0/event_kinds',
  'PUT /v18.0/event_kinds/{name}',
];

/** Operations with a cursor or a time among their parameters. */
function listsOf(document: string): string[] {
  const { paths } = JSON.parse(document) as {
    paths: Record<string, Record<string, { parameters?: { name: string }[] }>>;
  };
  return Object.entries(paths)
    .filter(([, { get }]) =>
      get?.parameters?.some(({ name }) => /^(?:from|to|after|.*_(?:after|before))$/.test(name)),
    )
    .map(([path]) => `GET ${path}`);
}

const off = (operation: string, check: string) =>
  `[[operations]]\ninclude-name = "${operation}"\nchecks.${check}.enabled = false\n`;
// No --checks on the command line: all of them are the default, and it would overrule what stands here.
const configuration = (operations: readonly string[]) => `[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 412, 429]

# A body that is too large is refused before it is looked at, whatever is wrong with it.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429, "5xx"]

${operations.map((name) => off(name, 'positive_data_acceptance')).join('\n')}
# A new profile has no login yet.
${['GET', 'DELETE'].map((method) => off(`${method} /v18.0/profiles/{id}/login`, 'ensure_resource_availability')).join('\n')}
# DELETE is of the subject whose name is "erase".
${off('POST /v18.0/subjects/erase', 'allow_header_conformance')}`;

/**
 * The document as it is served, with one of the ways to send a token: schemathesis tries all at once, which is refused
 * as it must be. And without the header that names an account: there is one, and no other is found.
 */
async function readDocument(url: string): Promise<string> {
  const text = await (await fetch(url)).text();
  return JSON.stringify(JSON.parse(text.replaceAll('{"access_token":[]},', '')), (_, value) =>
    Array.isArray(value) ? value.filter((one) => one?.name !== ACCOUNT_HEADER) : value,
  );
}
