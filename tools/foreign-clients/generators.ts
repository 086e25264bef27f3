import { spawn } from 'node:child_process';
import { cp, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { goBuildWay, userCacheDir } from '../../packages/embedded-servers/src/index.js';
import { pythonTool } from './python-tool.js';

/** A generator of clients, and a program that calls the API by the client that it makes. */
export interface Generator {
  language: string;
  /** File name of the generator. */
  program: string;
  version: string;
  /** Installs it, once per user, outside of the checkout. @returns its path */
  install(report: (line: string) => void): Promise<string>;
  /** How people get it. */
  get: string;
  /** Its arguments, which make the client of `openapi.json`. */
  generate: string[];
  /** The commands that use the client. */
  use(program: string): string[][];
}

const HERE = join(import.meta.dirname, 'generated');
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
const OAPI_CODEGEN_RUNTIME = 'github.com/oapi-codegen/runtime';

/** The release pinned in generated/go/go.mod. */
const OAPI_CODEGEN_VERSION = 'v2.8.2';
const OPENAPI_PYTHON_CLIENT = '0.29.1';
/** The release that clients/typescript has. */
const OPENAPI_TYPESCRIPT = '7.13.0';

/** One for each language that most producers and subscribers are written in. */
export const GENERATORS: readonly Generator[] = [
  {
    language: 'python',
    program: 'openapi-python-client',
    version: OPENAPI_PYTHON_CLIENT,
    install: async () => (await pythonTool('openapi-python-client', OPENAPI_PYTHON_CLIENT)).program,
    get: `pip install openapi-python-client==${OPENAPI_PYTHON_CLIENT}`,
    generate: [
      ...['generate', '--path', 'openapi.json', '--config', 'generator.yml', '--fail-on-warning'],
      ...['--meta', 'none', '--output-path', 'hookline_client'],
    ],
    use: (program) => [[join(dirname(program), 'python'), 'client.py']],
  },
  {
    language: 'go',
    program: 'oapi-codegen',
    version: OAPI_CODEGEN_VERSION,
    async install(report) {
      const way = goBuildWay(
        {
          doing: `building oapi-codegen ${OAPI_CODEGEN_VERSION} with Go, once per user, about half a minute`,
          program: 'oapi-codegen',
          version: OAPI_CODEGEN_VERSION,
          sources: 'tools/foreign-clients/generated/go',
          // What the client imports is fetched with it.
          args: (folder) => ['build', '-trimpath', '-o', folder, OAPI_CODEGEN, OAPI_CODEGEN_RUNTIME],
        },
        userCacheDir(),
      );
      return (await way.kept()) ?? (await way.make?.run(report)) ?? '';
    },
    get: `go install ${OAPI_CODEGEN}@${OAPI_CODEGEN_VERSION}`,
    generate: ['-config', 'oapi-codegen.yml', 'openapi.json'],
    use: () => [['go', 'run', '.']],
  },
  {
    language: 'typescript',
    program: 'openapi-typescript',
    version: OPENAPI_TYPESCRIPT,
    install: async () => resolve('clients/typescript/node_modules/openapi-typescript/bin/cli.js'),
    get: `npm install --save-dev openapi-typescript@${OPENAPI_TYPESCRIPT}`,
    // What has a default can be left out of a request.
    generate: ['openapi.json', '--default-non-nullable', 'false', '--output', 'hookline.ts'],
    use: () => [
      [
        resolve('node_modules/.bin/tsc'),
        '--noEmit',
        '--strict',
        ...['--module', 'nodenext', '--types', 'node', 'client.mts'],
      ],
      [resolve('node_modules/.bin/tsx'), 'client.mts'],
    ],
  },
];

/**
 * Generates a client and uses it.
 *
 * @param program path of the generator
 * @param folder an empty one, which what is made is left in
 * @param api where it is, and a token of an account whose profile has no followers
 * @returns what the commands printed
 * @throws Error with that of one that failed
 */
export async function generateAndUse(
  { language, generate, use }: Generator,
  program: string,
  folder: string,
  { url, token }: { url: string; token: string },
): Promise<string> {
  await cp(join(HERE, language), folder, { recursive: true });
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  const env = { ...process.env, HOOKLINE_URL: url, TOKEN: token, NO_COLOR: '1', GOWORK: 'off' };
  const path = await realpath(program);
  let output = '';
  for (const [command = '', ...args] of [[path, ...generate], ...use(path)]) {
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const status = await new Promise((done, failed) => child.once('error', failed).once('close', done));
    if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${status}:\n${output}`);
  }
  return output;
}
