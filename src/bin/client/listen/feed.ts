import type { Values } from '../../command.js';
import { client } from '../connection.js';
import { plain, print, printJson, time } from '../terminal.js';
import { limitOf, textOf, timeOf } from '../values.js';

/** Shows events in the order of the feed, a line each, or as JSON with their payloads. */
export async function feed(values: Values): Promise<void> {
  const { follow, json } = values;
  const most = follow === true || textOf(values, 'consumer') ? Number.POSITIVE_INFINITY : limitOf(values);
  const options = {
    once: follow !== true,
    consumer: textOf(values, 'consumer'),
    after: textOf(values, 'after'),
    from: timeOf(values, 'from'),
    endpoint: textOf(values, 'endpoint'),
  };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let shown = 0;
  try {
    for await (const entry of (await client()).feed({ ...given, payload: 'text', signal: stop.signal })) {
      if (json === true) printJson(entry);
      else print([time(entry.created_at), entry.kind, entry.id, entry.position].map(plain).join('  '));
      shown += 1;
      if (shown >= most) return;
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  if (shown === 0 && json !== true) print('No events.');
}
