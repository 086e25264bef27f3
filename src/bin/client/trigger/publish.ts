import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Hookline, newIdempotencyKey, type Schemas } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { deliveryCount, note, plain, print, printJson } from '../terminal.js';

/** Events and bytes of one request, with room for what stands around them. */
const MOST = { events: 100, bytes: 1_000_000 };

/** Posts events, one on each line, a hundred at a time. Each line is sent as it stands. */
export async function publish({ each, json }: Values, [file]: string[]): Promise<void> {
  if (!file) throw new CommandError('Name the file with events: hookline publish events.ndjson');
  const hookline = await client();
  let [line, refused] = [0, 0];
  for await (const events of inRequests(eventsIn(file), (event) => event)) {
    const results = await postEvents(hookline, each === true ? 'each' : 'all_or_nothing', events);
    for (const result of results) {
      line += 1;
      if (json === true) printJson(result);
      else if (result.event)
        print(
          `${plain(result.event.id)}  ${plain(result.event.kind)}  ${deliveryCount(result.event.delivery_count)}`,
        );
      if (result.problem) note(`Event ${line}: ${plain(result.problem.detail)}`);
      if (result.problem) refused += 1;
    }
  }
  if (refused > 0) throw new CommandError(`${refused} of ${line} events were refused.`);
}

/** Posts events that have a key each, as they stand. @returns what became of each */
export async function postEvents(
  hookline: Hookline,
  mode: 'each' | 'all_or_nothing',
  events: readonly string[],
): Promise<Schemas['BatchResult'][]> {
  const body = `{"mode":"${mode}","events":[${events.join()}]}`;
  const { results } = await hookline.post('/v18.0/events', {
    // Each event has a key: the request may be sent again.
    headers: { 'content-type': 'application/json', 'idempotency-key': newIdempotencyKey() },
    body: body as unknown as Schemas['AcceptEventsBody'],
  });
  return results;
}

/** Events in groups that fit into a request. @param textOf an event as it is posted */
export async function* inRequests<T>(
  events: AsyncIterable<T> | Iterable<T>,
  textOf: (event: T) => string,
): AsyncIterable<T[]> {
  let [some, bytes] = [[] as T[], 0];
  for await (const event of events) {
    const size = Buffer.byteLength(textOf(event)) + 1;
    if (some.length === MOST.events || (some.length > 0 && bytes + size > MOST.bytes)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(event);
    bytes += size;
  }
  if (some.length > 0) yield some;
}

async function* eventsIn(file: string): AsyncIterable<string> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
    if (line.trim() !== '') yield withKey(line);
}

/** Gives an event an idempotency key, if it has none. Invalid JSON is left for the server to reject. */
function withKey(line: string): string {
  try {
    if (JSON.parse(line).idempotency_key !== undefined) return line;
  } catch {
    return line;
  }
  return line.replace(/^\s*\{/, `{"idempotency_key":"${newIdempotencyKey()}",`);
}
