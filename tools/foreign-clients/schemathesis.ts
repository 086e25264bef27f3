import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  await writeFile(join(folder, 'schemathesis.toml'), CONFIGURATION);
  await writeFile(join(folder, 'openapi.json'), await readDocument(`${url}/openapi.json`));
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
 * What JSON Schema cannot say: that a cursor is one that was given, a time is to come, a duration has bounds, a schema
 * is one, or two settings go together. For these operations it is not checked that everything that matches the schema
 * is accepted. And that a precondition fails is no mistake of the API's.
 */
const BEYOND_SCHEMA = [
  ...[
    'accounts',
    'api_keys',
    'changes',
    'deliveries',
    'endpoints',
    'events',
    'oauth_clients',
    'profiles',
  ].map((list) => `GET /v18.0/${list}`),
  'GET /v18.0/endpoints/{id}',
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

/**
 * The document as it is served, with one of the ways to send a token: schemathesis tries all at once, which is refused
 * as it must be.
 */
async function readDocument(url: string): Promise<string> {
  const text = await (await fetch(url)).text();
  return text.replaceAll('{"access_token":[]},', '');
}
