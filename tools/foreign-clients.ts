import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GENERATORS, type Generator, generateAndUse } from './foreign-clients/generators.js';
import { samplePackages } from './foreign-clients/sample-packages.js';
import { runSchemathesis, SCHEMATHESIS } from './foreign-clients/schemathesis.js';
import { type ForeignSystem, startForeignSystem } from './foreign-clients/system.js';

/**
 * Clients that were not written for Hookline, on a system of their own: `npm run clients`. Linters read the OpenAPI
 * document, generators make clients of it, which call the API. What they say goes to stderr, and a page with their
 * results to stdout: docs/clients.md is such a page. Needs Python 3.10, Go, and the package registries; takes about
 * three minutes.
 */
const REDOCLY = '2.77.0';
const SPECTRAL = '6.16.3';
const FUZZ_S = 60;
/** For one tool, its download included. */
const LIMIT_MS = 300_000;

const HERE = join(import.meta.dirname, 'foreign-clients');

interface Client {
  name: string;
  checks: string;
  run(): Promise<Result>;
}

interface Result {
  ok: boolean;
  said: string;
}

/**
 * Runs a command. Of what it prints, the last line that a pattern matches is its result. The service is in this
 * process, so it must not block.
 */
async function run(
  { folder, token }: ForeignSystem,
  [command = '', ...args]: readonly string[],
  result: RegExp,
  { cwd = folder, env: more = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Result> {
  const env = { ...process.env, TOKEN: token, NO_COLOR: '1', npm_config_loglevel: 'error', ...more };
  const child = spawn(command, args, { cwd, env, timeout: LIMIT_MS });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
      process.stderr.write(data);
    });
  }
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const lines = output.split('\n').map((line) => line.trim());
  const said = lines.filter((line) => result.test(line)).at(-1) ?? 'no result';
  return { ok: status === 0, said: said.replace(/ [([]\d+(\.\d+)?m?s[)\]]/, '') };
}

function clientsOf(system: ForeignSystem): Client[] {
  const { url } = system;
  const npx = (name: string, version: string, ...args: string[]) => [
    'npx',
    '--yes',
    `${name}@${version}`,
    ...args,
  ];
  const redocly = npx('@redocly/cli', REDOCLY, 'lint', '--extends=recommended', 'openapi.json');
  const rules = ['-r', 'spectral.json', '-F', 'warn'];
  const spectral = npx('@stoplight/spectral-cli', SPECTRAL, 'lint', 'openapi.json', ...rules);
  return [
    {
      name: `Redocly CLI ${REDOCLY}`,
      checks: 'The document, by the rules `recommended`',
      run: () => run(system, redocly, /valid\.|errors?\b|warnings?\b/i),
    },
    {
      name: `Spectral ${SPECTRAL}`,
      checks: 'The document, by the rules `spectral:oas`',
      run: () => run(system, spectral, /No results|problems?\b/),
    },
    ...GENERATORS.map((generator) => generatedClient(system, generator)),
    {
      name: "Go's `net/http`",
      checks: 'Sends bodies that are too large',
      run: () => run(system, ['go', 'run', join(HERE, 'client.go'), url], /attempt|413/),
    },
    {
      name: 'The code that the portal hands out',
      checks:
        'For each language and framework: registers an endpoint, responds to its verification, accepts and rejects deliveries',
      async run() {
        const env = { TEST_SAMPLE_PACKAGES: await samplePackages() };
        const tests = ['mocha', '--no-parallel', 'test/system/endpoints/sample-code.test.ts'];
        return run(system, ['npx', ...tests], /^\d+ passed/, { cwd: process.cwd(), env });
      },
    },
    {
      name: `schemathesis ${SCHEMATHESIS}`,
      checks:
        `Generates requests for ${FUZZ_S} s and applies its checks; for operations with rules that JSON Schema cannot express, ` +
        'the check that every valid request is accepted is left out. Sends the token as `Authorization: Bearer`',
      async run() {
        const { status, output } = await runSchemathesis(system, FUZZ_S);
        return { ok: status === 0, said: summaryOf(output) };
      },
    },
  ];
}

function generatedClient(system: ForeignSystem, generator: Generator): Client {
  return {
    name: `${generator.program} ${generator.version}`,
    checks: 'Generates a client without a warning, which calls the API',
    async run() {
      const program = await generator.install(report);
      const folder = await mkdtemp(join(system.folder, 'generated-'));
      const output = await generateAndUse(generator, program, folder, system);
      return { ok: true, said: output.trim().split('\n').at(-1) ?? '' };
    },
  };
}

/** Files that the linters read. */
async function writeFiles({ url, folder }: ForeignSystem): Promise<void> {
  const document = await fetch(`${url}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await document.text());
  // Each installation has contacts of its own.
  const rules = { extends: ['spectral:oas'], rules: { 'info-contact': 'off' } };
  await writeFile(join(folder, 'spectral.json'), JSON.stringify(rules));
}

function summaryOf(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  return (
    lines.filter((line) => /^\d+ generated|generated,|No issues found/.test(line)).join('; ') || 'no summary'
  );
}

/** The versions of what runs the clients. */
function runtimes(): string {
  const [, python] = execFileSync('python3', ['--version'], { encoding: 'utf8' }).split(/\s+/);
  const [, , go] = execFileSync('go', ['version'], { encoding: 'utf8' }).split(/\s+/);
  return `Node.js ${process.versions.node}, Python ${python}, Go ${go?.slice(2)}`;
}

function renderPageOf(rows: readonly (Client & Result)[]): string {
  const table = rows.map(
    ({ name, checks, ok, said }) => `| ${name} | ${checks} | ${ok ? 'passes' : 'FAILS'} | ${said} |`,
  );
  return `# Compatible clients

Generate a client for your language from Hookline's OpenAPI document. \`npm run clients\` runs the clients and linters
below against the API and its document, in some minutes, and prints this page. The last run was with
${runtimes()}:

| Client | Checks | Result | Last line of its output |
|---|---|---|---|
${table.join('\n')}

## A client of your own

The document is at \`/openapi.json\` of every server, and in [docs/openapi.json](openapi.json). \`npm run test:all\` runs
these generators too. Their settings, and programs that use the generated clients, are in
\`tools/foreign-clients/generated\`:

\`\`\`sh
curl --remote-name "$HOOKLINE_URL/openapi.json"
${GENERATORS.map(({ get, program, generate }) => `\n${get}\n${[program, ...generate].join(' ')}`).join('\n')}
\`\`\`

For TypeScript there is also [@hookline/client](../clients/typescript/README.md), with retries and lists as iterators.
`;
}

function failed(error: unknown): Result {
  report(String(error));
  return { ok: false, said: String(error).split('\n')[0] ?? '' };
}

const report = (line: string) => void process.stderr.write(`${line}\n`);
const system = await startForeignSystem(report);
try {
  await writeFiles(system);
  const rows: (Client & Result)[] = [];
  for (const client of clientsOf(system)) {
    report(`\n--- ${client.name}`);
    const result = await client.run().catch(failed);
    report(`--- ${client.name}: ${result.ok ? 'passes' : 'FAILS'}`);
    rows.push({ ...client, ...result });
  }
  process.stdout.write(renderPageOf(rows));
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
} finally {
  await system.stop();
}
