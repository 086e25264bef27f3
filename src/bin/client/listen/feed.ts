import type { Schemas } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { showList } from '../listing.js';
import { plain, print, printJson, time } from '../terminal.js';
import { limitOf, textOf, timeOf } from '../values.js';

/** Shows events in the order of the feed, or what its consumers are. */
export async function feed(values: Values, [action, ...more]: string[]): Promise<void> {
  if (action === undefined) return events(values);
  if (action === 'consumers') return consumers(values, more);
  throw new CommandError(`There is no action "${action}"; use: consumers.`);
}

/** Shows events, a line each, or as JSON with their payloads. */
async function events(values: Values): Promise<void> {
  const { follow, json } = values;
  const most = follow === true || textOf(values, 'consumer') ? Number.POSITIVE_INFINITY : limitOf(values);
  const options = {
    once: follow !== true,
    consumer: textOf(values, 'consumer'),
    after: textOf(values, 'after'),
    ...beginOf(values),
    endpoint: textOf(values, 'endpoint'),
    order: numberOf(values, 'order'),
    orderKey: textOf(values, 'order-key'),
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

/** Lists the consumers of the feed, moves one, or deletes one. */
async function consumers(values: Values, [action = 'list', name]: string[]): Promise<void> {
  const isJson = values['json'] === true;
  const hookline = await client();
  switch (action) {
    case 'list':
      return showList(hookline.list('/v18.0/feed/consumers'), values, {
        none: 'No consumers.',
        header: ['CONSUMER', 'READ UP TO', 'COMMITTED', 'POSITION'],
        cells: (one: Schemas['FeedConsumer']) => [
          ...[one.name, one.up_to === undefined ? 'nothing yet' : time(one.up_to)],
          ...[time(one.updated_at), one.position],
        ],
      });
    case 'seek': {
      const body = { position: textOf(values, 'after'), ...beginOf(values) };
      if (!name || Object.values(body).filter((value) => value !== undefined).length !== 1)
        throw new CommandError(
          'Say which consumer, and where it continues, by one option: hookline feed consumers seek warehouse --from 2h',
        );
      // To put one that is not there would make it.
      await hookline.get('/v18.0/feed/consumers/{name}', { params: { path: { name } } });
      const moved = await hookline.put('/v18.0/feed/consumers/{name}', { params: { path: { name } }, body });
      return isJson ? printJson(moved) : print(`Moved: ${plain(name)}`);
    }
    case 'delete':
      if (!name) throw new CommandError('Name the consumer: hookline feed consumers delete warehouse');
      await hookline.delete('/v18.0/feed/consumers/{name}', { params: { path: { name } } });
      return isJson ? printJson({ name, deleted: true }) : print(`Deleted: ${plain(name)}`);
    default:
      throw new CommandError(`There is no action "${action}"; use one of: list, seek, delete.`);
  }
}

/** The time, or the number of the event, at which reading begins. @throws CommandError */
function beginOf(values: Values) {
  return { from: timeOf(values, 'from'), sequence: numberOf(values, 'sequence') };
}

/** The number of an event, in the account or in an order. @throws CommandError */
function numberOf(values: Values, option: string): number | undefined {
  const text = textOf(values, option);
  if (text !== undefined && !/^[1-9]\d*$/.test(text))
    throw new CommandError(`--${option} must be the number of an event, such as 42.`);
  return text === undefined ? undefined : Number(text);
}
