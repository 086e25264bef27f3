import type { Hookline, Schemas } from '../../../clients/typescript/src/index.js';
import { isObject } from '../../domain/basics/objects.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showFacts, showList } from './listing.js';
import { plain, print, printJson, status, style } from './terminal.js';
import { parseGiven, readGiven, textOf } from './values.js';

const ACTIONS = 'list, show, create, update, pause, resume, rotate, test, verify, delete';

/** Lists endpoints, or shows or changes one. */
export async function endpoints(values: Values, [first = 'list', second]: string[]): Promise<void> {
  const isId = first.startsWith('ep_');
  const action = isId ? 'show' : first;
  if (!ACTIONS.split(', ').includes(action))
    throw new CommandError(`There is no action "${first}"; use one of: ${ACTIONS}.`);
  const hookline = await client();
  if (action === 'list') return list(hookline, values);
  if (action === 'create') return create(hookline, second, values);
  const id = isId ? first : second;
  if (!id) throw new CommandError(`Name the endpoint: hookline endpoints ${action} ep_…`);
  await act(hookline, action, id, values);
}

function list(hookline: Hookline, values: Values): Promise<void> {
  return showList(hookline.list('/v18.0/endpoints', { query: { limit: 100 } }), values, {
    none: 'No endpoints.',
    header: ['ENDPOINT', 'STATUS', 'HEALTH', 'KINDS', 'URL'],
    cells: (endpoint) => {
      const { id, status: state, incident, event_kinds } = endpoint;
      return [id, state, incident ? 'failing' : '', event_kinds.join(','), whereTo(endpoint)];
    },
  });
}

/** Registers an endpoint, and shows the secret that its deliveries are signed with. */
async function create(hookline: Hookline, url: string | undefined, values: Values): Promise<void> {
  const kinds = textOf(values, 'kinds');
  if (!url || kinds === undefined)
    throw new CommandError(
      'Say where and what: hookline endpoints create https://shop.example.com/hooks --kinds purchase',
    );
  const made = await hookline.post('/v18.0/endpoints', {
    body: {
      target_url: url,
      event_kinds: kinds.split(','),
      description: textOf(values, 'description'),
      // An invalid value is rejected with the list of valid ones.
      ordering: textOf(values, 'ordering') as Schemas['Endpoint']['ordering'],
      order_skip: textOf(values, 'skip') as Schemas['Endpoint']['order_skip'],
      order_skip_after: textOf(values, 'skip-after'),
      signature_scheme: schemeIn(values),
      ...(await settingsIn(values)),
    },
  });
  if (values['json'] === true) return printJson(made);
  show(made, false);
  showFacts({ Secret: made.secret, 'Public key': made.public_key });
}

/** As it was given: the service rejects an invalid one with the list of valid ones. */
const schemeIn = (values: Values) =>
  textOf(values, 'scheme') as Schemas['Endpoint']['signature_scheme'] | undefined;

/** Settings that `--settings` gives. @throws CommandError */
async function settingsIn(values: Values): Promise<Record<string, unknown>> {
  const given = textOf(values, 'settings');
  if (given === undefined) return {};
  const settings = parseGiven(await readGiven(given));
  if (!isObject(settings)) throw new CommandError('--settings must be a JSON object.');
  return settings;
}

async function act(hookline: Hookline, action: string, id: string, values: Values): Promise<void> {
  const params = { path: { id } };
  const json = values['json'] === true;
  switch (action) {
    case 'pause': {
      const status_reason = textOf(values, 'reason');
      if (status_reason === undefined)
        return show(await hookline.post('/v18.0/endpoints/{id}/pause', { params }), json);
      const body = { status: 'paused' as const, status_reason };
      return show(await hookline.patch('/v18.0/endpoints/{id}', { params, body }), json);
    }
    case 'update': {
      const body = await settingsIn(values);
      return show(await hookline.patch('/v18.0/endpoints/{id}', { params, body }), json);
    }
    case 'resume':
      return show(await hookline.post('/v18.0/endpoints/{id}/resume', { params }), json);
    case 'verify':
      return show(await hookline.post('/v18.0/endpoints/{id}/verify', { params }), json);
    case 'rotate': {
      const body = { overlap: textOf(values, 'overlap'), signature_scheme: schemeIn(values) };
      const keys = await hookline.post('/v18.0/endpoints/{id}/secret/rotate', { params, body });
      if (json) return printJson(keys);
      print(plain(keys.secret ?? keys.public_key ?? ''));
      if (keys.previous_expires_at)
        print(style('dim', `The previous one signs too until ${plain(keys.previous_expires_at)}.`));
      return;
    }
    case 'test': {
      const event = await hookline.post('/v18.0/endpoints/{id}/test', { params });
      return json ? printJson(event) : print(plain(`${event.id}  ${event.deliveries?.[0]?.id ?? ''}`));
    }
    case 'delete':
      await hookline.delete('/v18.0/endpoints/{id}', { params });
      return json ? printJson({ id, deleted: true }) : print(`Deleted: ${plain(id)}`);
    default:
      return show(await hookline.get('/v18.0/endpoints/{id}', { params }), json);
  }
}

type Incident = NonNullable<Schemas['EndpointWithIncident']['incident']>;

function show(endpoint: Schemas['Endpoint'] | Schemas['EndpointWithIncident'], json: boolean): void {
  if (json) {
    printJson(endpoint);
    return;
  }
  const reason = endpoint.status_reason ? `  ${plain(endpoint.status_reason)}` : '';
  print(`${status(endpoint.status)}  ${plain(endpoint.id)}${reason}`);
  const incident = 'incident' in endpoint ? endpoint.incident : undefined;
  showFacts({
    URL: whereTo(endpoint),
    Kinds: endpoint.event_kinds.join(', '),
    Description: endpoint.description,
    Order: endpoint.ordering && orderOf(endpoint),
    Failing: incident && failingOf(incident),
  });
}

function failingOf({ since, failures, last_failure }: Incident): string {
  return [`since ${since}`, failures && `${failures} failures`, last_failure && `the last ${last_failure}`]
    .filter(Boolean)
    .join(', ');
}

function orderOf({ ordering, order_skip, order_skip_after }: Schemas['Endpoint']): string {
  const rules = [order_skip && `skip ${order_skip}`, order_skip_after && `skip after ${order_skip_after}`];
  return [ordering, ...rules].filter(Boolean).join(', ');
}

function whereTo({ listener, target_url }: Pick<Schemas['Endpoint'], 'listener' | 'target_url'>): string {
  return listener ? 'a listener (temporary)' : target_url;
}
