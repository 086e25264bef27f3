#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { SettingsError } from '../config/load.js';
import { COMMANDS, type CommandName } from './commands.js';

/** A command that failed for a reason that its caller can mend: said in plain words, without a stack. */
const USAGE = `hookline <command>

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

Settings come from the environment: docs/configuration.md.
`;

const [name = 'help', ...rest] = process.argv.slice(2);
const command = name in COMMANDS ? COMMANDS[name as CommandName] : undefined;

if (!command || rest.includes('--help')) {
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
    process.exitCode = 1;
  }
}
