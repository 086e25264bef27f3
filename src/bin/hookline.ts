#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { SettingsError } from '../config/load.js';
import { COMMANDS, type CommandName } from './commands.js';

const USAGE = `hookline <command>

${Object.entries(COMMANDS)
  .map(([name, { summary, help }]) =>
    [`  ${name.padEnd(10)} ${summary}`, ...help.map((line) => `             ${line}`)].join('\n'),
  )
  .join('\n')}

Settings come from the environment: docs/configuration.md.
`;

const [name = 'help', ...rest] = process.argv.slice(2);
const command = name in COMMANDS ? COMMANDS[name as CommandName] : undefined;

if (!command || rest.includes('--help')) {
  if (!command && name !== 'help' && name !== '--help')
    process.stderr.write(`hookline: there is no command "${name}"\n\n`);
  process.stdout.write(USAGE);
  process.exitCode = command || name === 'help' || name === '--help' ? 0 : 2;
} else {
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: command.options,
      allowPositionals: true,
    });
    await command.run(values, positionals);
  } catch (error) {
    const expected =
      error instanceof SettingsError ||
      !(error instanceof Error) ||
      process.env['HOOKLINE_LOG_LEVEL'] !== 'debug';
    process.stderr.write(
      `hookline: ${expected && error instanceof Error ? error.message : (error as Error).stack}\n`,
    );
    // Temporal's runtime, once installed, keeps a process alive that never came to use it.
    process.exit(1);
  }
}
