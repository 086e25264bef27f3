import type { Hookline, QueryOf, Schemas } from '../../../clients/typescript/src/index.js';
import { attemptCount } from '../../domain/explain/attempt-count.js';
import { cutText } from '../../domain/text/unicode.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showFacts, showList } from './listing.js';
import { plain, print, printJson, status, table, time } from './terminal.js';
import { limitOf, textOf } from './values.js';

const ACTS = ['retry', 'cancel', 'pause', 'resume', 'resend'] as const;

/** Lists deliveries, shows one with its attempts, or acts on one. */
export async function deliveries(values: Values, [first, second]: string[]): Promise<void> {
  const hookline = await client();
  const act = ACTS.find((known) => known === first);
  if (act) return steer(hookline, act, second, values);
  if (first?.startsWith('dlv_')) return show(hookline, first, values);
  if (first !== undefined && first !== 'list')
    throw new CommandError(`"${first}" is neither a delivery's id nor one of: list, ${ACTS.join(', ')}.`);
  await list(hookline, values);
}

async function list(hookline: Hookline, values: Values): Promise<void> {
  const limit = limitOf(values);
  const query = { ...filterOf(values), limit: Math.min(limit, 100) };
  const listing = {
    none: 'No deliveries.',
    header: ['ACCEPTED', 'STATUS', 'KIND', 'DELIVERY', 'REASON'],
    cells: ({ created_at, status: state, event_kind, id, reason }: Schemas['DeliverySummary']) => [
      ...[time(created_at), state, event_kind, id, reason],
    ],
  };
  await showList(hookline.list('/v18.0/deliveries', { query }), values, listing, limit);
}

/** The filters of a list, checked by the server; also of `replay` and `attempts`, which have some of the options. */
export function filterOf(values: Values): NonNullable<QueryOf<'/v18.0/deliveries'>> {
  const statusCode = textOf(values, 'last-status-code');
  if (statusCode !== undefined && !/^\d{3}$/.test(statusCode))
    throw new CommandError(`--last-status-code must be an HTTP status such as 503, not "${statusCode}".`);
  return {
    endpoint_id: textOf(values, 'endpoint'),
    event_id: textOf(values, 'event'),
    event_kind: textOf(values, 'kind'),
    key: textOf(values, 'key'),
    status: textOf(values, 'status')?.split(',') as 'delivered'[] | undefined,
    status_code: statusCode === undefined ? undefined : Number(statusCode),
    error_code: textOf(values, 'last-error-code') as 'timeout' | undefined,
  };
}

/** Note on an attempt that was repeated because its process died. */
const LOST = '(an earlier try may have arrived) ';

async function show(hookline: Hookline, id: string, { json }: Values): Promise<void> {
  const delivery = await hookline.get('/v18.0/deliveries/{id}', { params: { path: { id } } });
  if (json === true) return printJson(delivery);
  print(`${status(delivery.status)}  ${plain(delivery.reason)}\n`);
  showFacts({
    Delivery: delivery.id,
    Event: `${delivery.event_id} (${delivery.event_kind})`,
    Endpoint: delivery.endpoint_id,
    Accepted: time(delivery.created_at),
    Attempts: attemptCount(delivery.attempts),
    'Next attempt': delivery.next_attempt_at && time(delivery.next_attempt_at),
  });
  if (delivery.attempts.length === 0) return;
  const rows = delivery.attempts.map(
    ({ number, at, duration_ms, status_code, error_code, error, response_snippet, lost_tries }) => [
      ...[String(number), time(at), `${duration_ms} ms`, String(status_code ?? error_code)],
      `${lost_tries ? LOST : ''}${cutText(error ?? response_snippet ?? '', 80)}`,
    ],
  );
  print(`\n${table(['ATTEMPT', 'AT', 'TOOK', 'RESULT', 'RESPONSE'], rows)}`);
}

async function steer(
  hookline: Hookline,
  act: (typeof ACTS)[number],
  id: string | undefined,
  values: Values,
): Promise<void> {
  if (!id) throw new CommandError(`Name the delivery: hookline deliveries ${act} dlv_…`);
  const init = { params: { path: { id } }, body: { reason: textOf(values, 'reason') } };
  // The four acts on an open delivery take and answer the same.
  const done =
    act === 'resend'
      ? await hookline.post('/v18.0/deliveries/{id}/resend', init)
      : await hookline.post(`/v18.0/deliveries/{id}/${act}` as '/v18.0/deliveries/{id}/retry', init);
  if (values['json'] === true) printJson(done);
  else
    print('status' in done ? `${status(done.status)}  ${plain(done.id)}` : `Sent again: ${plain(done.id)}`);
}
