import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { CommandError, type Values } from '../command.js';
import { MAX_RESPONSE_BYTES } from '../process/bounded-fetch.js';
import { type Connection, connection } from './connection.js';
import { note, plain } from './terminal.js';
import { textOf, timeOf } from './values.js';

/** How often a stream that broke off is continued without a line in between. */
const TRIES = 5;

/**
 * Writes what happened in a period to standard output. A stream that breaks off is continued behind its last whole
 * line.
 */
export async function exportRecords(values: Values): Promise<void> {
  const { changes, format = 'ndjson', gzip, payload = 'json' } = values;
  const from = timeOf(values, 'from');
  if (from === undefined) throw new CommandError('Say from when: hookline export --from 2026-01-01');
  if (format !== 'ndjson') throw new CommandError(`There is no format "${String(format)}"; use ndjson.`);
  const query = new URLSearchParams({ from, to: timeOf(values, 'to') ?? new Date().toISOString() });
  if (changes === true) query.set('include', 'changes');
  if (payload !== 'json' && payload !== 'text')
    throw new CommandError(`Payloads cannot be "${String(payload)}"; use json or text.`);
  if (payload === 'text') query.set('payload', payload);
  const after = textOf(values, 'after');
  if (after !== undefined) query.set('after', after);
  const lines = Readable.from(linesOf(await connection(), query));
  // Standard output is not ended: it is not ours.
  if (gzip === true) await pipeline(lines, createGzip(), toStandardOutput);
  else await pipeline(lines, toStandardOutput);
}

/**
 * The lines of an export, each with its end. A stream that breaks off is continued behind its last whole line.
 *
 * @param query of the export; its `after` is where the export is by now
 */
export async function* linesOf(server: Connection, query: URLSearchParams): AsyncIterable<string> {
  for (let tries = 0; ; tries += 1) {
    try {
      for await (const line of await open(server, query)) {
        yield `${line}\n`;
        query.set('after', (JSON.parse(line) as { after: string }).after);
        tries = 0;
      }
      return;
    } catch (error) {
      if (error instanceof CommandError || tries === TRIES) throw error;
      note(`The stream broke off; it is continued behind ${plain(query.get('after') ?? 'its beginning')}.`);
    }
  }
}

async function open(
  { url, token, account }: Connection,
  query: URLSearchParams,
): Promise<AsyncIterable<string>> {
  const response = await fetch(`${url}/v18.0/exports?${query}`, {
    headers: {
      authorization: `Bearer ${await token()}`,
      accept: 'application/x-ndjson, application/json',
      ...(account !== undefined && { 'hookline-account': account }),
    },
  });
  if (!response.ok || !response.body) {
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new CommandError(detail ?? `The server responded with ${response.status}.`);
  }
  return wholeLines(Readable.fromWeb(response.body as never));
}

/**
 * A line ends with a line feed and nothing else: `node:readline` takes U+2028 for an end, too.
 *
 * @throws if the last one has no end
 */
async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [end = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    line.push(end);
    length += end.length;
    for (const next of others) {
      yield line.join('');
      line = [next];
      length = next.length;
    }
    if (length > MAX_RESPONSE_BYTES)
      throw new CommandError('The server sent a line that is too long to be one of an export.');
  }
  if (length > 0) throw new Error('The stream ended within a line.');
}

async function toStandardOutput(chunks: AsyncIterable<string | Buffer>): Promise<void> {
  const output: Writable = process.stdout;
  for await (const chunk of chunks) if (!output.write(chunk)) await once(output, 'drain');
}
