import type { Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showFacts } from './listing.js';
import { plain, print, printJson, style, time } from './terminal.js';
import { textOf } from './values.js';

/** Everything that happened to a delivery, oldest first. */
export async function timeline({ json }: Values, [id]: string[]): Promise<void> {
  if (!id) throw new CommandError('Name the delivery: hookline timeline dlv_…');
  const hookline = await client();
  const { data } = await hookline.get('/v18.0/deliveries/{id}/timeline', { params: { path: { id } } });
  for (const item of data) {
    if (json === true) printJson(item);
    else
      print(
        `${style('dim', time(item.at))}  ${style('bold', plain(item.type).padEnd(9))}  ${plain(item.text)}`,
      );
  }
}

/** Why an endpoint got an event, or did not. The event is named by its id or by a business key. */
export async function explain(values: Values, [endpoint_id, event]: string[]): Promise<void> {
  if (!endpoint_id || !event)
    throw new CommandError(
      'Name endpoint and event: hookline explain ep_… evt_…, or a key: hookline explain ep_… order_id:1001',
    );
  const hookline = await client();
  const named = event.includes(':') ? { key: event } : { event_id: event };
  const verdict = await hookline.get('/v18.0/explain', {
    params: { query: { endpoint_id, ...named, event_kind: textOf(values, 'kind') } },
  });
  if (values['json'] === true) return printJson(verdict);
  print(`${style('bold', plain(verdict.code))}  ${plain(verdict.summary)}`);
  showFacts({
    Since: verdict.since && time(verdict.since),
    By: verdict.by,
    'Next attempt': verdict.next_attempt_at && time(verdict.next_attempt_at),
    Event: verdict.event && `${verdict.event.id} (${verdict.event.kind})`,
    'The payload': verdict.clauses?.map(foundBy).join('; '),
    Delivery: verdict.delivery && `${verdict.delivery.id} (${verdict.delivery.status})`,
  });
}

/** Value of the payload where a clause of the filter looks. */
function foundBy({ path = '', found }: NonNullable<Schemas['Verdict']['clauses']>[number]): string {
  return `has ${found === undefined ? 'nothing to compare' : JSON.stringify(found)} at ${path || 'its root'}`;
}
