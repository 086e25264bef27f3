import type { ParseArgsConfig } from 'node:util';
import { plain } from '../domain/text/plain.js';

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** One thing that the command line can do. */
export interface Command {
  /** In a few words. */
  summary: string;
  /** Words that follow the name, such as `<kind> [options]`. */
  usage?: string;
  /** Description of the command and of its options, a line each. */
  help?: readonly string[];
  /** The words that can come first after the name, for those commands that have such. */
  actions?: readonly string[];
  options?: ParseArgsConfig['options'];
  /** The words that follow the command are passed on as they were typed, options too. */
  isRaw?: boolean;
  run(values: Values, positionals: string[]): Promise<void>;
}

/** Options that several commands have, as `parseArgs` takes them, and what their help says. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const json = flag;
export const JSON_HELP = '--json                  for programs: JSON, a line for each';

/** A user's mistake, or something that a user can put right: shown as it is, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly lines: readonly string[];

  /** @param lines each is shown as one: what comes from outside adds none */
  constructor(...lines: readonly [string, ...string[]]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/**
 * An error for a person, without what a terminal would act upon: its message is one line, unless it says itself which
 * `lines` it has.
 */
export function linesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [plain(String(error))];
  const { lines = [error.message] } = error as { lines?: readonly string[] };
  return lines.map(plain);
}
