import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pythonTool } from './foreign-clients/python-tool.js';
import { runSchemathesis, SCHEMATHESIS } from './foreign-clients/schemathesis.js';
import { type ForeignSystem, startForeignSystem } from './foreign-clients/system.js';

/**
 * Clients that were not written for Hookline, on a system of their own: `npm run clients`. Linters read the OpenAPI document, generators make
 * clients of it, which call the API. It prints docs/clients.md. Needs Python 3.10, Go, and the package registries.
 */
const REDOCLY = '2.77.0';
const SPECTRAL = '6.16.3';
const OPENAPI_TYPESCRIPT = '7.13.0';
const OPENAPI_PYTHON_CLIENT = '0.29.1';
const FUZZ_S = 60;

const HERE = join(import.meta.dirname, 'foreign-clients');

interface Row {
  client: string;
  checks: string;
  ok: boolean;
  said: string;
}

/** Runs a command; of what it prints, the last line that a pattern matches is its result. */
function run(
  { folder, token }: ForeignSystem,
  [command = '', ...args]: readonly string[],
  result: RegExp,
): Pick<Row, 'ok' | 'said'> {
  const env = { ...process.env, TOKEN: token, NO_COLOR: '1', npm_config_loglevel: 'error' };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env });
  const output = `${stdout}\n${stderr}`;
  if (status !== 0) process.stderr.write(output);
  const line =
    output
      .split('\n')
      .filter((text) => result.test(text))
      .at(-1) ?? 'no result';
  return { ok: status === 0, said: line.trim() };
}

async function tryAll(system: ForeignSystem): Promise<Row[]> {
  const { url, folder } = system;
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  // Whom to ask is up to who runs an installation.
  const rules = { extends: ['spectral:oas'], rules: { 'info-contact': 'off' } };
  await writeFile(join(folder, 'spectral.json'), JSON.stringify(rules));
  await writeFile(join(folder, 'generator.yml'), 'post_hooks: []\nproject_name_override: hookline_client\n');
  const { program, python } = pythonTool('openapi-python-client', OPENAPI_PYTHON_CLIENT);
  const npx = (name: string, version: string, ...args: string[]) => [
    'npx',
    '--yes',
    `${name}@${version}`,
    ...args,
  ];
  const generate = [program, 'generate', '--path', 'openapi.json', '--config', 'generator.yml'];

  const rows: Row[] = [
    {
      client: `Redocly CLI ${REDOCLY}`,
      checks: 'the document, rules `recommended`',
      ...run(
        system,
        npx('@redocly/cli', REDOCLY, 'lint', '--extends=recommended', 'openapi.json'),
        /valid\.|error|warning/i,
      ),
    },
    {
      client: `Spectral ${SPECTRAL}`,
      checks: 'the document, rules `spectral:oas`',
      ...run(
        system,
        npx('@stoplight/spectral-cli', SPECTRAL, 'lint', 'openapi.json', '-r', 'spectral.json', '-F', 'warn'),
        /No results|problems?\b/,
      ),
    },
    {
      client: `openapi-typescript ${OPENAPI_TYPESCRIPT}`,
      checks: 'types are generated',
      ...run(
        system,
        npx('openapi-typescript', OPENAPI_TYPESCRIPT, 'openapi.json', '-o', 'types.ts'),
        /types\.ts/,
      ),
    },
    {
      client: `openapi-python-client ${OPENAPI_PYTHON_CLIENT}`,
      checks: 'a client is generated, warnings are errors',
      ...run(
        system,
        [...generate, '--meta', 'none', '--output-path', 'hookline_client', '--fail-on-warning'],
        /./,
      ),
    },
    {
      client: 'the Python client',
      checks: 'calls',
      ...run(system, [python, join(HERE, 'client.py'), url, folder], /as expected|Error/),
    },
    {
      client: "Go's net/http",
      checks: 'bodies that are too large',
      ...run(system, ['go', 'run', join(HERE, 'client.go'), url], /attempt|413/),
    },
  ];
  const fuzzed = await runSchemathesis(system, FUZZ_S);
  rows.push({
    client: `schemathesis ${SCHEMATHESIS}`,
    checks: `${FUZZ_S} s of generated requests, bearer only, all checks`,
    ok: fuzzed.status === 0,
    said: summaryOf(fuzzed.output),
  });
  return rows;
}

function summaryOf(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  return (
    lines.filter((line) => /^\d+ generated|generated,|No issues found/.test(line)).join('; ') || 'no summary'
  );
}

function render(rows: readonly Row[]): string {
  const table = rows.map(
    ({ client, checks, ok, said }) => `| ${client} | ${checks} | ${ok ? 'ok' : 'FAILED'} | ${said} |`,
  );
  return `# Foreign clients

Clients that were not written for Hookline, run by \`npm run clients\` against a system of their own. Its output:

| Client | What | Result | It said |
|---|---|---|---|
${table.join('\n')}
`;
}

const system = await startForeignSystem((line) => process.stderr.write(`${line}\n`));
try {
  const rows = await tryAll(system);
  process.stdout.write(render(rows));
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
} finally {
  await system.stop();
}
