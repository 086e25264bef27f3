import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { CommandError } from '../command.js';

/** What an option names: a file, `-` for standard input, or the JSON itself. @throws CommandError */
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
