import { parseArgs } from 'node:util';
import { closestMatch } from 'leven';
import { RELEASE } from '../domain/basics/release.js';
import type { Command } from './command.js';
import { COMMAND_GROUPS, COMMANDS } from './commands.js';

/**
 * Does what a command line asks for. What it writes goes to the standard streams of the process, and what it found to
 * `process.exitCode`.
 *
 * @param words what follows the name of the program
 * @returns whether it came to an end of its own: if not, it has said why, and what it began may keep the process alive
 */
export async function runCommandLine([name = 'help', ...rest]: readonly string[]): Promise<boolean> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command && !command.isRaw && (rest.includes('--help') || rest.includes('-h')))
    process.stdout.write(helpOf(name, command));
  else if (command) return run(command, rest);
  else if (['--version', '-v', 'version'].includes(name)) process.stdout.write(`${RELEASE}\n`);
  else if (['help', '--help', '-h'].includes(name)) process.stdout.write(usage());
  else {
    const meant = closestMatch(name, Object.keys(COMMANDS), { maxDistance: 2 });
    const hint = meant ? `Did you mean "${meant}"?` : 'hookline help lists them.';
    process.stderr.write(`hookline: there is no command "${name}". ${hint}\n`);
    process.exitCode = 2;
  }
  return true;
}

async function run({ options, isRaw, run }: Command, args: string[]): Promise<boolean> {
  try {
    const { values, positionals } = isRaw
      ? { values: {}, positionals: args }
      : parseArgs({ args, options, allowPositionals: true });
    await run(values, positionals);
    return true;
  } catch (error) {
    // Settings may be what is wrong, so that they cannot be asked how an error is to be shown.
    const withStack = process.env['HOOKLINE_LOG_LEVEL'] === 'debug';
    process.stderr.write(
      `hookline: ${error instanceof Error && !withStack ? error.message : (error as Error).stack}\n`,
    );
    return false;
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
function helpOf(known: string, { summary, usage: more = '', help = [] }: Command): string {
  const lines = help.map((line) => `  ${line}\n`);
  return [`hookline ${known} ${more}`.trimEnd(), `${summary}\n`, lines.join('')].join('\n');
}
