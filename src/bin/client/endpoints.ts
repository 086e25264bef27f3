import type { Hookline, Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { plain, print, printJson, status, style, table } from './terminal.js';

export const ENDPOINT_ACTIONS = [
  'list',
  'show',
  'pause',
  'resume',
  'rotate',
  'test',
  'verify',
  'delete',
] as const;
type Action = (typeof ENDPOINT_ACTIONS)[number];

/** Lists endpoints, or shows or changes one. */
export async function endpoints(values: Values, [first = 'list', second]: string[]): Promise<void> {
  const isId = first.startsWith('ep_');
  const action = isId ? 'show' : ENDPOINT_ACTIONS.find((known) => known === first);
  if (!action)
    throw new CommandError(`There is no action "${first}"; use one of: ${ENDPOINT_ACTIONS.join(', ')}.`);
  const hookline = await client();
  if (action === 'list') return list(hookline, values);
  const id = isId ? first : second;
  if (!id) throw new CommandError(`Name the endpoint: hookline endpoints ${action} ep_…`);
  await act(hookline, action, id, values);
}

async function list(hookline: Hookline, { json }: Values): Promise<void> {
  const rows: string[][] = [];
  for await (const endpoint of hookline.list('/v18.0/endpoints', { query: { limit: 100 } })) {
    if (json === true) printJson(endpoint);
    const { id, status: state, incident, event_kinds } = endpoint;
    rows.push([id, state, incident ? 'failing' : '', event_kinds.join(','), whereTo(endpoint)]);
  }
  if (json === true) return;
  print(rows.length === 0 ? 'No endpoints.' : table(['ENDPOINT', 'STATUS', 'HEALTH', 'KINDS', 'URL'], rows));
}

async function act(hookline: Hookline, action: Action, id: string, values: Values): Promise<void> {
  const params = { path: { id } };
  const json = values['json'] === true;
  switch (action) {
    case 'pause': {
      const { reason } = values;
      return show(
        reason === undefined
          ? await hookline.post('/v18.0/endpoints/{id}/pause', { params })
          : await hookline.patch('/v18.0/endpoints/{id}', {
              params,
              body: { status: 'paused', status_reason: String(reason) },
            }),
        json,
      );
    }
    case 'resume':
      return show(await hookline.post('/v18.0/endpoints/{id}/resume', { params }), json);
    case 'verify':
      return show(await hookline.post('/v18.0/endpoints/{id}/verify', { params }), json);
    case 'rotate': {
      const overlap = values['overlap'] === undefined ? {} : { overlap: String(values['overlap']) };
      const keys = await hookline.post('/v18.0/endpoints/{id}/secret/rotate', { params, body: overlap });
      if (json) return printJson(keys);
      print(keys.secret ?? keys.public_key);
      if (keys.previous_expires_at)
        print(style('dim', `The previous one signs too until ${keys.previous_expires_at}.`));
      return;
    }
    case 'test': {
      const event = await hookline.post('/v18.0/endpoints/{id}/test', { params });
      return json ? printJson(event) : print(`${event.id}  ${event.deliveries?.[0]?.id ?? ''}`);
    }
    case 'delete':
      await hookline.delete('/v18.0/endpoints/{id}', { params });
      return json ? printJson({ id, deleted: true }) : print(`Deleted: ${id}`);
    default:
      return show(await hookline.get('/v18.0/endpoints/{id}', { params }), json);
  }
}

function show(endpoint: Schemas['Endpoint'] | Schemas['EndpointWithIncident'], json: boolean): void {
  if (json) {
    printJson(endpoint);
    return;
  }
  const reason = endpoint.status_reason ? `  ${plain(endpoint.status_reason)}` : '';
  print(`${status(endpoint.status)}  ${endpoint.id}${reason}`);
  const incident = 'incident' in endpoint ? endpoint.incident : undefined;
  const facts = {
    URL: whereTo(endpoint),
    Kinds: endpoint.event_kinds.join(', '),
    Description: endpoint.description,
    Failing:
      incident && `since ${incident.since}, ${incident.failures} failures, the last ${incident.last_failure}`,
  };
  for (const [name, value] of Object.entries(facts))
    if (value) print(`${style('dim', name.padEnd(14))}${plain(value)}`);
}

function whereTo({ listener, target_url }: Pick<Schemas['Endpoint'], 'listener' | 'target_url'>): string {
  return listener ? 'a listener (temporary)' : target_url;
}
