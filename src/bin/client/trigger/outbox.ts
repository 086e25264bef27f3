import { setTimeout as delay } from 'node:timers/promises';
import {
  type Hookline,
  HooklineConnectionError,
  HooklineError,
} from '../../../../clients/typescript/src/index.js';
import { isDatabaseUnavailable } from '../../../models/mongo/unavailable.js';
import { Outbox, type WaitingEvent } from '../../../models/outbox/outbox.js';
import { CommandError, type Values } from '../../command.js';
import { stopSignal } from '../../process/stop.js';
import { client, outboxUri } from '../connection.js';
import { note, plain, print } from '../terminal.js';
import { durationOf, textOf } from '../values.js';
import { inRequests, postEvents } from './publish.js';

/** Documents that are read at once. */
const AT_ONCE = 100;

/** Statuses of requests of which an event may be to blame: others are of the caller, or over in a while. */
const OF_EVENTS: readonly number[] = [400, 413];
/** Codes of problems of the body as a whole. */
const OF_BODY: readonly string[] = ['invalid_json', 'payload_too_large'];

/**
 * Publishes the events of an outbox in the order of their ids, and marks them. A repeat, such as after a kill between
 * the two, is accepted once, because the id is the idempotency key.
 */
export async function outbox(values: Values, [collection]: string[]): Promise<void> {
  const uri = outboxUri();
  if (!collection || !uri)
    throw new CommandError(
      'Name the collection, and set HOOKLINE_OUTBOX_URI to the URI of its database: hookline outbox events',
    );
  const everyMs = durationOf('every', textOf(values, 'every') ?? '1s');
  const hookline = await client();
  const stopping = stopSignal();
  const source = await Outbox.open(uri, collection);
  try {
    while (!stopping.aborted) {
      const read = await passOn(hookline, source, values['in-order'] === true).catch((error: unknown) => {
        if (values['once'] === true || !isOver(error)) throw error;
        note(`${error instanceof Error ? plain(error.message) : error} This is tried again.`);
        return 0;
      });
      if (read === AT_ONCE) continue;
      if (values['once'] === true) return;
      await delay(everyMs, undefined, { signal: stopping }).catch(() => {});
    }
  } finally {
    await source.close();
  }
}

/**
 * Publishes and marks the first events that wait.
 *
 * @param inOrder whether each is accepted before the next one is sent
 * @returns how many there were
 */
async function passOn(hookline: Hookline, source: Outbox, inOrder: boolean): Promise<number> {
  const waiting = await source.next(AT_ONCE);
  const requests = inOrder ? waiting.map((one) => [one]) : inRequests(waiting, ({ text }) => text);
  for await (const events of requests) await publishAll(hookline, source, events);
  return waiting.length;
}

/** @throws the error of a request for which no event is to blame */
async function publishAll(
  hookline: Hookline,
  source: Outbox,
  events: readonly WaitingEvent[],
): Promise<void> {
  try {
    const texts = events.map(({ text }) => text);
    const results = await postEvents(hookline, 'each', texts);
    let later: string | undefined;
    for (const [index, { event, problem, status }] of results.entries()) {
      const { id } = events[index] as WaitingEvent;
      if (event) await accepted(source, id, event);
      else if (status < 500 && status !== 429) await refused(source, id, problem?.detail ?? String(status));
      else later = problem?.detail;
    }
    if (later !== undefined) throw new BusyError(later);
  } catch (error) {
    if (!(error instanceof HooklineError && OF_EVENTS.includes(error.status))) throw error;
    const [first, ...others] = events;
    // One of them is not even the form of an event: each is posted by itself.
    if (others.length > 0) for (const one of events) await publishAll(hookline, source, [one]);
    else if (first && isOfEvents(error)) await refused(source, first.id, error.message);
    else throw error;
  }
}

/** Whether Hookline says that the events are wrong, and not who sends them, or something on the way there. */
function isOfEvents({ code, errors }: HooklineError): boolean {
  return OF_BODY.includes(code) || errors.some(({ pointer }) => pointer?.startsWith('/events'));
}

async function accepted(
  source: Outbox,
  id: WaitingEvent['id'],
  event: { id: string; kind: string },
): Promise<void> {
  await source.mark(id, { published_at: new Date(), event_id: event.id });
  print(`${plain(String(id))}  ${plain(event.id)}  ${plain(event.kind)}`);
}

async function refused(source: Outbox, id: WaitingEvent['id'], problem: string): Promise<void> {
  await source.mark(id, { refused_at: new Date(), problem });
  note(`${plain(String(id))} was refused: ${plain(problem)}`);
}

/** The server has no room for some events. */
class BusyError extends Error {}

/** Whether what has failed may succeed after a while. */
function isOver(error: unknown): boolean {
  if (error instanceof HooklineError) return error.status >= 500 || error.status === 429;
  return (
    error instanceof BusyError || error instanceof HooklineConnectionError || isDatabaseUnavailable(error)
  );
}
