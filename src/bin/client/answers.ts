import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { plain, print, printJson, style, time } from './terminal.js';

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
export async function explain({ json, kind }: Values, [endpointId, event]: string[]): Promise<void> {
  if (!endpointId || !event)
    throw new CommandError(
      'Name endpoint and event: hookline explain ep_… evt_…, or a key: hookline explain ep_… order_id:1001',
    );
  const hookline = await client();
  const verdict = await hookline.get('/v18.0/explain', {
    params: {
      query: {
        endpoint_id: endpointId,
        ...(event.includes(':') ? { key: event } : { event_id: event }),
        ...(kind !== undefined && { event_kind: String(kind) }),
      },
    },
  });
  if (json === true) {
    printJson(verdict);
    return;
  }
  print(`${style('bold', verdict.code)}  ${plain(verdict.summary)}`);
  const facts = {
    Since: verdict.since && time(verdict.since),
    By: verdict.by,
    'Next attempt': verdict.next_attempt_at && time(verdict.next_attempt_at),
    Event: verdict.event && `${verdict.event.id} (${verdict.event.kind})`,
    Delivery: verdict.delivery && `${verdict.delivery.id} (${verdict.delivery.status})`,
  };
  for (const [name, value] of Object.entries(facts))
    if (value) print(`${style('dim', name.padEnd(14))}${plain(value)}`);
}
