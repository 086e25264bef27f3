import { createReadStream } from 'node:fs';
import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import { replaceFile } from '../process/replace-file.js';
import {
  type ErasureLine,
  ErasureLineError,
  MAX_ERASURE_LINE,
  readErasureLine,
  writeErasureLine,
} from './erasure-line.js';

/** Lines that are refused which are told one by one. */
const REFUSED_TOLD = 10;

/** A line of a file that is not its end. */
export type SomeErasure = Exclude<ErasureLine, { type: 'end' }>;

/** Writes a file of erasures: who reads it finds a whole one, or the one before. @returns how many there were */
export async function writeErasureFile(
  path: string,
  lines: AsyncIterable<SomeErasure>,
  box: SecretBox,
): Promise<number> {
  let count = 0;
  async function* written() {
    for await (const line of lines) {
      yield `${writeErasureLine(line, box)}\n`;
      count += 1;
    }
    const end = { type: 'end', lines: count, exported_at: new Date().toISOString() } as const;
    yield `${writeErasureLine(end, box)}\n`;
  }
  await replaceFile(path, written(), 0o600);
  return count;
}

/**
 * Reads a file of erasures line by line, and says which lines it refuses.
 *
 * @param report receives what is wrong with the file, in lines
 */
export function readErasureFile(path: string, box: SecretBox, report: (line: string) => void) {
  let read = 0;
  let refused = 0;
  let end: Extract<ErasureLine, { type: 'end' }> | undefined;

  const lineIn = (text: string | undefined, number: number): ErasureLine | undefined => {
    try {
      if (text === undefined) throw new ErasureLineError(`it is longer than ${MAX_ERASURE_LINE} characters`);
      return readErasureLine(text, box);
    } catch (error) {
      if (!(error instanceof ErasureLineError || error instanceof SealError)) throw error;
      refused += 1;
      if (refused <= REFUSED_TOLD) report(`Line ${number} is refused: ${error.message}.`);
      return undefined;
    }
  };

  return {
    async *lines(): AsyncIterable<SomeErasure> {
      let number = 0;
      for await (const text of linesOfFile(path, MAX_ERASURE_LINE)) {
        number += 1;
        const line = lineIn(text, number);
        if (line?.type === 'end') end = line;
        else if (line) {
          read += 1;
          yield line;
        }
      }
    },

    /** Says what is missing. @returns whether nothing is */
    isWhole(): boolean {
      if (refused > 0) report(`${refused} lines were refused: nothing was done because of them.`);
      if (!end) report('The file has no end: a part of it is missing. Apply a whole one as well.');
      else if (end.lines !== read)
        report(
          `The file was written with ${end.lines} erasures, of which ${read} were read. Apply a whole one as well.`,
        );
      return refused === 0 && end?.lines === read;
    },
  };
}

/**
 * The lines of a file, without their ends, as it is read: a line that is longer than it may be is never held whole.
 *
 * @param longest characters that a line may have @yields `undefined` in place of a longer line
 * @throws Error if the file cannot be read
 */
async function* linesOfFile(path: string, longest: number): AsyncIterable<string | undefined> {
  let line = '';
  let isTooLong = false;
  for await (const chunk of createReadStream(path, 'utf8')) {
    const [first = '', ...others] = (chunk as string).split('\n');
    for (const [index, part] of [first, ...others].entries()) {
      if (index > 0) {
        yield isTooLong ? undefined : line;
        line = '';
        isTooLong = false;
      }
      isTooLong ||= line.length + part.length > longest;
      line = isTooLong ? '' : line + part;
    }
  }
  if (isTooLong || line !== '') yield isTooLong ? undefined : line;
}
