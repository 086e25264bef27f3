import { open, rename, rm } from 'node:fs/promises';
import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import {
  type ErasureLine,
  ErasureLineError,
  MAX_ERASURE_LINE,
  readErasureLine,
  writeErasureLine,
} from '../../domain/archive/erasure-line.js';
import { linesOfFile } from './lines-of-file.js';

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
  const beside = `${path}.${process.pid}.new`;
  const file = await open(beside, 'w', 0o600);
  let count = 0;
  try {
    for await (const line of lines) {
      await file.write(`${writeErasureLine(line, box)}\n`);
      count += 1;
    }
    const end = { type: 'end', lines: count, exported_at: new Date().toISOString() } as const;
    await file.write(`${writeErasureLine(end, box)}\n`);
    await file.sync();
    await file.close();
    await rename(beside, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(beside, { force: true });
    throw error;
  }
  return count;
}

/** Reads a file of erasures line by line, and says which lines it refuses. */
export class ErasureFile implements AsyncIterable<SomeErasure> {
  private readonly path: string;
  private readonly box: SecretBox;
  private readonly report: (line: string) => void;
  private read = 0;
  private refused = 0;
  private end: { lines: number; exported_at: string } | undefined;

  /** @param report receives what is wrong with the file, in lines */
  constructor(path: string, box: SecretBox, report: (line: string) => void) {
    this.path = path;
    this.box = box;
    this.report = report;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<SomeErasure> {
    let number = 0;
    for await (const text of linesOfFile(this.path, MAX_ERASURE_LINE)) {
      number += 1;
      const line = this.lineIn(text, number);
      if (line?.type === 'end') this.end = line;
      else if (line) {
        this.read += 1;
        yield line;
      }
    }
  }

  /** Says what is missing. @returns whether nothing is */
  isWhole(): boolean {
    if (this.refused > 0)
      this.report(`${this.refused} lines were refused: nothing was done because of them.`);
    if (!this.end) this.report('The file has no end: a part of it is missing. Apply a whole one as well.');
    else if (this.end.lines !== this.read)
      this.report(
        `The file was written with ${this.end.lines} erasures, of which ${this.read} were read. Apply a whole one as well.`,
      );
    return this.refused === 0 && this.end?.lines === this.read;
  }

  private lineIn(text: string | undefined, number: number): ErasureLine | undefined {
    try {
      if (text === undefined) throw new ErasureLineError(`it is longer than ${MAX_ERASURE_LINE} characters`);
      return readErasureLine(text, this.box);
    } catch (error) {
      if (!(error instanceof ErasureLineError || error instanceof SealError)) throw error;
      this.refused += 1;
      if (this.refused <= REFUSED_TOLD) this.report(`Line ${number} is refused: ${error.message}.`);
      return undefined;
    }
  }
}
