import { createReadStream } from 'node:fs';

/**
 * The lines of a file, without their ends, as it is read: a line that is longer than it may be is never held whole.
 *
 * @param longest characters that a line may have @yields `undefined` in place of a longer line
 * @throws Error if the file cannot be read
 */
export async function* linesOfFile(path: string, longest: number): AsyncIterable<string | undefined> {
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
