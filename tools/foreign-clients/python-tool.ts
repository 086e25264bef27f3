import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { userCacheDir } from '../../packages/embedded-servers/src/index.js';

/**
 * A Python tool of one version, installed once into the user's cache folder.
 *
 * @returns paths of the tool and of the Python that can import it
 * @throws Error if Python 3.10 or later is missing, or the package cannot be installed
 */
export async function pythonTool(
  name: string,
  version: string,
): Promise<{ program: string; python: string }> {
  const folder = join(userCacheDir(), `${name}-${version}`);
  const tool = { program: join(folder, 'bin', name), python: join(folder, 'bin', 'python') };
  if (existsSync(tool.program)) return tool;
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', folder],
    [tool.python, '-m', 'pip', 'install', '--quiet', `${name}==${version}`],
  ] as const) {
    const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed; Python 3.10 or later is needed`);
  }
  return tool;
}
