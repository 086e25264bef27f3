import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Language } from '../../../web/src/pages/endpoints/secret/snippets.js';
import { until } from '../until.js';
import { isListening } from './ports.js';
import { hasProgram } from './programs.js';

/** How the code of a language is run. */
interface Runner {
  /** Which file the code is written to. */
  file: string;
  /** Whether the machine has the language. */
  isThere(): boolean;
  /** The program and its arguments. What has to be built first is built in the folder of the file. */
  command(path: string, port: number, code: string): Promise<[program: string, ...args: string[]]>;
}

/**
 * Serves a Rack application on a port with Ruby's own library: what a server of the gem `puma` would do, one request at
 * a time.
 */
const RACK_SERVER = `
require "socket"
require "stringio"
$stdout.sync = true
def run(app)
  server = TCPServer.new("127.0.0.1", Integer(ARGV[1]))
  loop do
    socket = server.accept
    next socket.close unless socket.gets
    env = {}
    while (line = socket.gets.chomp) != ""
      name, value = line.split(": ", 2)
      env["HTTP_#{name.upcase.tr("-", "_")}"] = value
    end
    env["rack.input"] = StringIO.new(socket.read(env["HTTP_CONTENT_LENGTH"].to_i).b)
    status, _, parts = app.call(env)
    socket.write("HTTP/1.1 #{status} \\r\\nConnection: close\\r\\n\\r\\n#{parts.join}")
    socket.close
  end
end
load ARGV[0]`;

/** Serves a route handler of Next.js, which is a function of a request, as Next.js would. */
const ROUTE_SERVER = `
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
createServer(async (incoming, outgoing) => {
  const init = { method: 'POST', headers: incoming.headers, body: await buffer(incoming) };
  const answer = await POST(new Request('http://localhost/webhooks', init));
  outgoing.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
}).listen(3000);`;

/**
 * Where packages of frameworks are installed that this project does not have: `node_modules`, and a Python in `venv`.
 * `npm run clients` makes such a folder; without one, code that needs them is not run.
 */
const PACKAGES = process.env['TEST_SAMPLE_PACKAGES'];
const packagesHave = (...path: string[]) => PACKAGES !== undefined && existsSync(join(PACKAGES, ...path));

const VENV = PACKAGES === undefined ? '' : join(PACKAGES, 'venv', 'bin', 'python');
const inVenv = (module: string): Omit<Runner, 'file'> => ({
  isThere: () => packagesHave('venv') && hasProgram(VENV, '-c', `import ${module}, standardwebhooks`),
  command: async (path) => [VENV, path],
});

const RUNNERS: Record<Language, Runner> = {
  node: {
    file: 'receiver.mjs',
    isThere: () => true,
    // From the folder of the project, which has the package that it imports.
    command: async (_path, _port, code) => [process.execPath, '--input-type=module', '--eval', code],
  },
  express: {
    file: 'receiver.mjs',
    isThere: () => packagesHave('node_modules', 'express'),
    command: async (_path, _port, code) => [process.execPath, '--input-type=module', '--eval', code],
  },
  next: {
    file: 'route.js',
    isThere: () => true,
    command: async (_path, port, code) => [
      process.execPath,
      '--input-type=module',
      '--eval',
      code + ROUTE_SERVER.replace('3000', String(port)),
    ],
  },
  flask: { file: 'receiver.py', ...inVenv('flask') },
  fastapi: { file: 'receiver.py', ...inVenv('fastapi, uvicorn') },
  python: {
    file: 'receiver.py',
    isThere: () => hasProgram('python3', '--version'),
    command: async (path) => ['python3', path],
  },
  go: {
    file: 'receiver.go',
    isThere: () => hasProgram('go', 'version'),
    // `go run` would leave its child behind.
    async command(path) {
      const program = path.replace(/\.go$/, '');
      // As FerretDB is built: what Go compiled for that, it has kept.
      await promisify(execFile)('go', ['build', '-trimpath', '-o', program, path]);
      return [program];
    },
  },
  ruby: {
    file: 'config.ru',
    isThere: () => hasProgram('ruby', '--version'),
    command: async (path, port) => ['ruby', '-e', RACK_SERVER, path, String(port)],
  },
  php: {
    file: 'receiver.php',
    isThere: () => hasProgram('php', '--version'),
    command: async (path, port) => ['php', '-S', `127.0.0.1:${port}`, path],
  },
  java: {
    file: 'Receiver.java',
    // A JDK: a machine that has `java` alone cannot compile.
    isThere: () => hasProgram('javac', '-version'),
    command: async (path) => ['java', path],
  },
};

/** A receiver that runs. */
export interface SampleReceiver {
  /** Lines that it has written, to standard output and standard error. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** Whether this machine can run the code of a language. */
export const canRun = (language: Language) => RUNNERS[language].isThere();

/** Runs code that the web application shows. @param code listens on port 3000, and here on another */
export async function runSample(language: Language, code: string, port: number): Promise<SampleReceiver> {
  const { file, command } = RUNNERS[language];
  const folder = await mkdtemp(join(tmpdir(), 'hookline-sample-'));
  const path = join(folder, file);
  const onItsPort = code.replace('3000', String(port));
  await writeFile(path, onItsPort);
  const [program, ...args] = await command(path, port, onItsPort);
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Node.js looks for packages from there.
    ...(language === 'express' && PACKAGES !== undefined && { cwd: PACKAGES }),
  });
  const ended = once(child, 'close');
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => void lines.push(line));
  const stop = async () => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true });
  };
  try {
    await until(async () => child.exitCode !== null || (await isListening(`127.0.0.1:${port}`)), Boolean);
    if (child.exitCode !== null) throw new Error(`it ended:\n${lines.join('\n')}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { lines, stop };
}
