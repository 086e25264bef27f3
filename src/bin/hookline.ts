#!/usr/bin/env node
import nodeModule from 'node:module';
import { join } from 'node:path';
import { userCacheDir } from '../../packages/embedded-servers/src/index.js';
import { runCommandLine } from './command-line.js';

keepCompiled();

// Such as `hookline deliveries | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

// Temporal's runtime, once installed, keeps a process alive that never came to use it.
if (!(await runCommandLine(process.argv.slice(2)))) process.exit(1);

/**
 * Keeps compiled code for later starts, where Node.js can: from 22.1 on. In a folder of this user, because write access
 * to it decides which code runs.
 */
function keepCompiled(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  enableCompileCache?.(join(userCacheDir(), 'compiled'));
}
