import { performance } from 'node:perf_hooks';
import { Hookline } from '../../../../clients/typescript/src/index.js';
import type { AnswerMessage, DeliveryMessage } from '../../../domain/listener/listener.js';
import { cutText } from '../../../domain/text/unicode.js';
import { CommandError, type Values } from '../../command.js';
import { boundedRequest } from '../../process/bounded-fetch.js';
import { connection } from '../connection.js';
import { note, plain, print, printJson, style, time } from '../terminal.js';
import { createForwarder } from './forward.js';
import { onKey } from './keys.js';
import { holdStream } from './stream.js';

/** Brings the deliveries of some kinds to a receiver on this machine until it is stopped. */
export async function listen({ forward, kinds = '*', json }: Values): Promise<void> {
  const receiver = forward === undefined ? undefined : receiverUrl(String(forward));
  const server = await connection();
  const { url } = server;
  const hookline = new Hookline({ ...server, retry: { tries: 3, timeoutMs: 10_000 }, fetch: boundedRequest });
  const event_kinds = String(kinds)
    .split(',')
    .map((kind) => kind.trim());
  const endpoint = await hookline.post('/v18.0/listeners', {
    body: { event_kinds, description: 'hookline listen' },
  });
  const forwarder = receiver === undefined ? undefined : createForwarder(receiver);
  const stop = new AbortController();
  // A second one ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const show = json === true ? showJson : showLine;
  let last: DeliveryMessage | undefined;

  const post = async (delivery: DeliveryMessage, again: boolean): Promise<AnswerMessage> => {
    const began = performance.now();
    const answer = forwarder ? await forwarder.post(delivery) : accepted(delivery);
    show({ delivery, answer, again, ms: Math.round(performance.now() - began) });
    return answer;
  };
  const releaseKeys = onKey((key) => {
    if (key === 'r' && last) void post(last, true);
    if (key === 'r' && !last) note('There was no delivery yet.');
    // A second time: for somebody who does not want to wait until the endpoint is deleted.
    if (key === 'stop' && stop.signal.aborted) process.exit(130);
    if (key === 'stop') stop.abort();
  });
  try {
    introduce(endpoint, { url, receiver, json });
    await holdStream({
      hookline,
      url,
      endpointId: endpoint.id,
      signal: stop.signal,
      take(delivery) {
        last = delivery;
        return post(delivery, false);
      },
      changed: (state, why) =>
        note(
          style(
            'dim',
            state === 'connected' ? 'Connected.' : `Not connected: ${plain(why)}. Connecting again …`,
          ),
        ),
    });
  } finally {
    releaseKeys();
    await forwarder?.close();
    await hookline.delete('/v18.0/endpoints/{id}', { params: { path: { id: endpoint.id } } }).catch(() => {
      note(`The endpoint ${endpoint.id} could not be deleted. The server deletes it in ten minutes.`);
    });
  }
}

/** @param text a URL, or a host with or without a path, which is reached by http. @throws CommandError */
export function receiverUrl(text: string): string {
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      `--forward must be the URL of your receiver, such as http://localhost:3000/webhooks, not "${text}".`,
    );
  return url.href;
}

/** Without a receiver, every delivery is accepted. */
function accepted({ number }: DeliveryMessage): AnswerMessage {
  return { type: 'response', number, status_code: 200, headers: {}, body: '' };
}

interface Exchange {
  delivery: DeliveryMessage;
  answer: AnswerMessage;
  again: boolean;
  ms: number;
}

function introduce(
  { id, event_kinds, secret = '' }: { id: string; event_kinds: string[]; secret?: string },
  { url, receiver, json }: Pick<Values, 'json'> & { url: string; receiver: string | undefined },
): void {
  if (json === true) {
    printJson({ type: 'listening', endpoint_id: id, event_kinds, secret });
    return;
  }
  print(`Listening for ${style('bold', plain(event_kinds.join(', ')))} at ${plain(url)} as ${plain(id)}`);
  print(`Signing secret: ${plain(secret)}`);
  print(
    receiver === undefined ? 'Every delivery is shown and accepted.' : `Forwarding to ${plain(receiver)}`,
  );
  if (process.stdin.isTTY) print(style('dim', 'Press r to send the last delivery again, Ctrl-C to stop.'));
  print();
}

function showLine({ delivery: { headers, body }, answer, again, ms }: Exchange): void {
  const at = time(new Date().toISOString());
  const { 'webhook-event-kind': kind = '', 'webhook-id': id = '', 'webhook-attempt': attempt = '' } = headers;
  const which = again ? 'again' : attempt === '1' ? '' : `attempt ${plain(attempt)}`;
  const said =
    answer.type === 'response' ? String(answer.status_code) : answer.error_code.replaceAll('_', ' ');
  const isGood = answer.type === 'response' && answer.status_code < 300;
  const result = style(isGood ? 'green' : 'red', said);
  print(
    [style('dim', at), plain(kind), plain(id), which, '→', result, `${ms} ms`].filter(Boolean).join('  '),
  );
  if (process.stdout.isTTY && !again) print(style('dim', `          ${cutText(plain(body), 160)}`));
}

function showJson({ delivery: { headers, body }, answer, again, ms }: Exchange): void {
  const { type: _, number: __, ...response } = answer;
  printJson({
    type: 'delivery',
    event_id: headers['webhook-id'],
    headers,
    body,
    again,
    ms,
    response,
  });
}
