#!/usr/bin/env node
import nodeModule from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closestMatch } from 'leven';
import { RELEASE } from '../domain/basics/release.js';
import { userCacheDir } from '../embedded/cache-dir.js';
import type { Command } from './command.js';
import { COMMAND_GROUPS, COMMANDS } from './commands.js';

keepCompiled();

const [name = 'help', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
const asksForHelp = ['help', '--help', '-h'].includes(name);

// Such as `hookline deliveries | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

if (command && !command.isRaw && (rest.includes('--help') || rest.includes('-h')))
  process.stdout.write(helpOf(name, command));
else if (command) await run(command);
else if (['--version', '-v', 'version'].includes(name)) process.stdout.write(`${RELEASE}\n`);
else if (asksForHelp) process.stdout.write(usage());
else {
  const meant = closestMatch(name, Object.keys(COMMANDS), { maxDistance: 2 });
  const hint = meant ? `Did you mean "${meant}"?` : 'hookline help lists them.';
  process.stderr.write(`hookline: there is no command "${name}". ${hint}\n`);
  process.exitCode = 2;
}

/**
 * Keeps compiled code for later starts, where Node.js can: from 22.1 on. In a folder of this user, because whoever can write there decides
 * what runs.
 */
function keepCompiled(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  enableCompileCache?.(join(userCacheDir(), 'compiled'));
}

async function run({ options, isRaw, run }: Command): Promise<void> {
  try {
    const { values, positionals } = isRaw
      ? { values: {}, positionals: rest }
      : parseArgs({ args: rest, options, allowPositionals: true });
    await run(values, positionals);
  } catch (error) {
    // Settings may be what is wrong, so that they cannot be asked how an error is to be shown.
    const withStack = process.env['HOOKLINE_LOG_LEVEL'] === 'debug';
    process.stderr.write(
      `hookline: ${error instanceof Error && !withStack ? error.message : (error as Error).stack}\n`,
    );
    // Temporal's runtime, once installed, keeps a process alive that never came to use it.
    process.exit(1);
  }
}

/** All commands, a line each. */
function usage(): string {
  const groups = Object.entries(COMMAND_GROUPS).map(([group, commands]) => {
    const lines = Object.entries(commands).map(([known, { summary }]) => `  ${known.padEnd(12)} ${summary}`);
    return `${group}:\n${lines.join('\n')}\n`;
  });
  return `hookline <command>

${groups.join('\n')}
hookline <command> --help says more. Settings of the service come from the environment (docs/configuration.md); what uses a server reads
HOOKLINE_URL and HOOKLINE_API_KEY, or the login that "hookline login" keeps (docs/command-line.md).
`;
}

/** One command and its options. */
function helpOf(known: string, { summary, usage: more = '', help }: Command): string {
  const lines = help.map((line) => `  ${line}\n`);
  return [`hookline ${known} ${more}`.trimEnd(), `${summary}\n`, lines.join('')].join('\n');
}
