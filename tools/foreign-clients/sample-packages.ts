import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { userCacheDir } from '../../packages/embedded-servers/src/index.js';

/** Packages that the code of the portal needs, besides the language, in the versions that it is tried with. */
const NODE_PACKAGES = ['express@5.3.0', 'standardwebhooks@1.1.1'];
const PYTHON_PACKAGES = ['flask==3.1.3', 'fastapi==0.165.0', 'uvicorn==0.54.0', 'standardwebhooks==1.1.0'];

/**
 * Installs the frameworks that the portal has code for, once, into the user's cache folder.
 *
 * @returns for `TEST_SAMPLE_PACKAGES`
 */
export async function samplePackages(): Promise<string> {
  const folder = join(userCacheDir(), 'sample-packages');
  const done = join(folder, 'node_modules', 'express');
  if (existsSync(done)) return folder;
  await mkdir(folder, { recursive: true });
  const venv = join(folder, 'venv');
  await install(folder, 'python3', '-m', 'venv', venv);
  await install(folder, join(venv, 'bin', 'python'), '-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES);
  await install(folder, 'npm', 'install', '--no-audit', '--prefix', folder, ...NODE_PACKAGES);
  return folder;
}

async function install(cwd: string, command: string, ...args: string[]): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 2, 2] });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}
