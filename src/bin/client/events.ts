import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showFacts, showList } from './listing.js';
import { plain, print, printJson, table, time } from './terminal.js';
import { limitOf, textOf } from './values.js';

/** Lists events, or shows one with its payload and its deliveries. */
export async function events(values: Values, [first = 'list', second]: string[]): Promise<void> {
  const hookline = await client();
  if (first === 'list') {
    const limit = limitOf(values);
    const query = {
      limit: Math.min(limit, 100),
      kind: textOf(values, 'kind'),
      key: textOf(values, 'key'),
    };
    const listing = {
      none: 'No events.',
      header: ['ACCEPTED', 'KIND', 'EVENT'],
      cells: (event: { created_at: string; kind: string; id: string }) => [
        ...[time(event.created_at), event.kind, event.id],
      ],
    };
    return showList(hookline.list('/v18.0/events', { query }), values, listing, limit);
  }
  const id = first === 'show' ? second : first;
  if (!id?.startsWith('evt_'))
    throw new CommandError(`"${first}" is neither an event's id nor one of: list, show.`);
  const event = await hookline.get('/v18.0/events/{kind_or_id}', { params: { path: { kind_or_id: id } } });
  if (values['json'] === true) return printJson(event);
  showFacts({ Event: event.id, Kind: event.kind, Accepted: event.created_at });
  if (event.deliveries.length > 0) {
    const rows = event.deliveries.map(({ id: delivery, status, endpoint_id }) => [
      ...[delivery, status, endpoint_id],
    ]);
    print(`\n${table(['DELIVERY', 'STATUS', 'ENDPOINT'], rows)}`);
  }
  print(event.payload_erased ? '\nThe payload was erased.' : `\n${plain(JSON.stringify(event.payload))}`);
}

/** Lists event kinds, shows one with its schema, or writes all of them as a document for generators. */
export async function kinds(values: Values, [first = 'list', second]: string[]): Promise<void> {
  const hookline = await client();
  if (first === 'list')
    return showList(hookline.list('/v18.0/event_kinds', { query: { limit: 100 } }), values, {
      none: 'No event kinds.',
      header: ['KIND', 'VERSION', 'DESCRIPTION'],
      cells: ({ name, version, description }) => [name, String(version), description],
    });
  if (first === 'openapi') return printJson(await hookline.get('/v18.0/catalogue/openapi.json'));
  if (first === 'asyncapi') return printJson(await hookline.get('/v18.0/catalogue/asyncapi.json'));
  const name = first === 'show' ? second : first;
  if (!name) throw new CommandError('Name the event kind: hookline kinds show purchase');
  const kind = await hookline.get('/v18.0/event_kinds/{name}', { params: { path: { name } } });
  if (values['json'] === true) return printJson(kind);
  showFacts({ Kind: kind.name, Version: String(kind.version), Description: kind.description });
  print(`\n${JSON.stringify(kind.schema, undefined, 2).split('\n').map(plain).join('\n')}`);
}
