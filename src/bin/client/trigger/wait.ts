import { setTimeout as delay } from 'node:timers/promises';
import type { Hookline, ItemOf, Schemas } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { note, plain, print, printJson, status, style } from '../terminal.js';
import { durationOf } from '../values.js';

const POLL_MS = 500;
/** How long the deliveries of an event are waited for at most, if nobody says it. */
const DEFAULT_WAIT = '10m';

type AwaitedDelivery = ItemOf<'/v18.0/deliveries'>;

/** How long to wait, as it was typed and in milliseconds. @throws CommandError if that is no time */
export function timeoutOf({ timeout = DEFAULT_WAIT }: Values): { text: string; ms: number } {
  const text = String(timeout);
  return { text, ms: durationOf('timeout', text) };
}

/**
 * Shows each delivery of an event as it ends, and on standard error what the others wait for. The process fails if one
 * was not delivered, or is parked: that ends only when somebody does something, or after days.
 *
 * @throws CommandError if deliveries are still open after the time that was given
 */
export async function waitForEnds(
  hookline: Hookline,
  event: Schemas['Acceptance'],
  timeout: { text: string; ms: number },
  values: Values,
): Promise<void> {
  const end = Date.now() + timeout.ms;
  const ended = new Set<string>();
  const waiting = new Map<string, string>();
  for (;;) {
    for await (const delivery of hookline.list('/v18.0/deliveries', {
      query: { event_id: event.id, limit: 100 },
    })) {
      if (ended.has(delivery.id)) continue;
      if (isOver(delivery, values)) {
        ended.add(delivery.id);
        waiting.delete(delivery.id);
        showEnd(delivery, values);
      } else tellWait(delivery, waiting, values);
    }
    if (ended.size >= event.delivery_count) return;
    const left = end - Date.now();
    if (left <= 0)
      throw new CommandError(
        `After ${timeout.text}, ${event.delivery_count - ended.size} of ${event.delivery_count} deliveries have not ended:`,
        ...waiting.values(),
        `They go on. See them with: hookline deliveries --event ${event.id}`,
      );
    await delay(Math.min(POLL_MS, left));
  }
}

const isOver = ({ closed_at, status }: AwaitedDelivery, values: Values) =>
  closed_at !== undefined || (status === 'parked' && values['while-parked'] !== true);

function showEnd(delivery: AwaitedDelivery, { json }: Values): void {
  if (delivery.status !== 'delivered') process.exitCode = 1;
  if (json === true) {
    printJson(delivery);
    return;
  }
  print(lineOf(delivery, status(delivery.status)));
  if (delivery.status === 'parked')
    note(
      style(
        'dim',
        'A parked delivery waits until its endpoint takes events again; --while-parked waits, too.',
      ),
    );
}

/** Says what a delivery waits for, once for each reason; of an attempt that is being made there is nothing to say. */
function tellWait(delivery: AwaitedDelivery, waiting: Map<string, string>, { json }: Values): void {
  const line = lineOf(delivery, plain(delivery.status));
  if (waiting.get(delivery.id) === line) return;
  waiting.set(delivery.id, line);
  if (json !== true && delivery.status !== 'delivering') note(style('dim', line));
}

const lineOf = ({ endpoint_id, reason }: AwaitedDelivery, state: string) =>
  `  ${plain(endpoint_id)}  ${state}  ${plain(reason)}`;
