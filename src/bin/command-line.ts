import { parseArgs } from 'node:util';
import { closestMatch } from 'leven';
import { RELEASE } from '../domain/basics/release.js';
import { plain } from '../domain/text/plain.js';
import { type Command, CommandError, linesOf } from './command.js';
import { COMMAND_GROUPS, COMMANDS } from './commands.js';

/**
 * Does what a command line asks for. Its output goes to the standard streams of the process, and its result to
 * `process.exitCode`.
 *
 * @param words what follows the name of the program
 * @returns whether it came to an end of its own: if not, it has said why, and what it began may keep the process alive
 */
export async function runCommandLine([name = 'help', ...rest]: readonly string[]): Promise<boolean> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command && !command.isRaw && (rest.includes('--help') || rest.includes('-h')))
    process.stdout.write(helpOf(name, command));
  else if (command) return run(name, command, rest);
  else if (['--version', '-v', 'version'].includes(name)) process.stdout.write(`${RELEASE}\n`);
  else if (['help', '--help', '-h'].includes(name)) process.stdout.write(usage());
  else {
    const meant = closestMatch(name, Object.keys(COMMANDS), { maxDistance: 2 });
    const hint = meant ? `Did you mean "${meant}"?` : 'hookline help lists them.';
    process.stderr.write(`hookline: there is no command "${plain(name)}". ${hint}\n`);
    process.exitCode = 2;
  }
  return true;
}

async function run(name: string, command: Command, args: string[]): Promise<boolean> {
  try {
    const { values, positionals } = command.isRaw
      ? { values: {}, positionals: args }
      : read(name, command, args);
    await command.run(values, positionals);
    return true;
  } catch (error) {
    // Settings may be what is wrong, so that they cannot be asked how an error is to be shown.
    const withStack = process.env['HOOKLINE_LOG_LEVEL'] === 'debug' && error instanceof Error;
    const lines = withStack ? String(error.stack).split('\n').map(plain) : linesOf(error);
    process.stderr.write(`hookline: ${lines.join('\n')}\n`);
    return false;
  }
}

/** @throws CommandError that names the option which was meant @throws TypeError if an option lacks its value */
function read(name: string, { options = {} }: Command, args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [, given] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || given === undefined) throw error;
    const known = Object.keys(options).map((option) => `--${option}`);
    const meant = closestMatch(given, known, { maxDistance: 2 });
    const hint = meant ? `Did you mean "${meant}"?` : `hookline ${name} --help lists them.`;
    throw new CommandError(`There is no option "${given}". ${hint}`);
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
