import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { parseDuration } from '../../domain/basics/duration.js';
import { CommandError, type Values } from '../command.js';

const DEFAULT_LIMIT = 25;

/** Text that was typed for an option. */
export function textOf(values: Values, name: string): string | undefined {
  return values[name] === undefined ? undefined : String(values[name]);
}

/** How many rows of a list are asked for. @throws CommandError */
export function limitOf(values: Values): number {
  const limit = Number(values['limit'] ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1) throw new CommandError('--limit must be a number above 0.');
  return limit;
}

/** A time that an option asks for, milliseconds. @throws CommandError */
export function durationOf(option: string, text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new CommandError(`--${option} must be a time such as 30s or 5m, not "${text}".`);
  }
}

/** The time that an option names: `2h` ago, or the time itself. @throws CommandError if it is neither */
export function timeOf(values: Values, option: string): string | undefined {
  const text = textOf(values, option);
  if (text === undefined || /^\d{4}-/.test(text)) return text;
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return new Date(Date.now() - parseDuration(text)).toISOString();
  throw new CommandError(
    `--${option} must be a time before now, such as 2h, or a time such as 2026-01-31T12:00:00Z.`,
  );
}

/** The time, also one ahead, that an option names. @throws CommandError if it is none */
export function dateOf(values: Values, option: string): Date | undefined {
  const text = textOf(values, option);
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new CommandError(`--${option} must be a time such as 2026-12-24T18:00:00Z, not "${text}".`);
  return at;
}

/** When the events, or what else is listed, were accepted. */
export function periodOf(values: Values) {
  return { created_after: timeOf(values, 'since'), created_before: timeOf(values, 'until') };
}

/** Text that an option names: a file, `-` for standard input, or the JSON itself. @throws CommandError */
export async function readGiven(data: string): Promise<string> {
  if (data === '-') return readAll(process.stdin);
  if (/^\s*[[{"]/.test(data)) return data;
  return readFile(data, 'utf8').catch((error: Error) => {
    throw new CommandError(`It cannot be read: ${error.message}`);
  });
}

/** @throws CommandError if it is not JSON */
export function parseGiven(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`It is not JSON: ${(error as Error).message}`);
  }
}
