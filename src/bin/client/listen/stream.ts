import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import {
  type Hookline,
  HooklineConnectionError,
  HooklineError,
} from '../../../../clients/typescript/src/index.js';
import {
  type AnswerMessage,
  CLOSE_CODES,
  type DeliveryMessage,
  STREAM_PROTOCOL,
} from '../../../domain/listener/listener.js';
import { CommandError } from '../../command.js';

/** Waits between tries to connect, milliseconds: the first, and the longest. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
/**
 * The server sends a ping every ten seconds; without one for this long, the connection is taken for lost, milliseconds.
 */
const SILENCE_MS = 25_000;
const HANDSHAKE_MS = 10_000;
/** The most that a message of the server may have, bytes: a payload of 256 KiB, escaped, and its headers. */
const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;

export interface StreamOptions {
  hookline: Hookline;
  url: string;
  endpointId: string;
  /** Makes the request and answers it. */
  take(delivery: DeliveryMessage): Promise<AnswerMessage>;
  /** The stream is open, for the first time or again, or was lost. */
  changed(state: 'connected' | 'lost', why: string): void;
  signal: AbortSignal;
}

/**
 * Holds the stream of a listener open, and connects again when it is lost.
 *
 * @returns when the signal is aborted
 * @throws CommandError if the listener is gone, or another program has taken it
 */
export async function holdStream(options: StreamOptions): Promise<void> {
  const { signal, changed } = options;
  for (let failures = 0; !signal.aborted; ) {
    const connected = await connect(options).catch((error: unknown) => passing(error));
    if (typeof connected !== 'string') {
      failures = 0;
      changed('connected', '');
      const why = await connected.ended;
      if (signal.aborted) return;
      changed('lost', why);
    }
    failures += 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
    await delay(wait, undefined, { signal }).catch(() => {});
  }
}

/** @returns why a try failed, if the next one may succeed @throws CommandError otherwise */
function passing(error: unknown): string {
  if (error instanceof HooklineError) {
    if (error.status === 404)
      throw new CommandError(
        'The listener was deleted, because nobody was connected for ten minutes. Start again.',
      );
    if (error.status < 500 && error.status !== 429) throw new CommandError(error.message);
    return error.message;
  }
  if (error instanceof HooklineConnectionError || error instanceof ConnectError) return error.message;
  throw error;
}

class ConnectError extends Error {}

/** @returns an open stream, and a promise of why it ended */
async function connect({ hookline, url, endpointId, take, signal }: StreamOptions) {
  const { ticket, path } = await hookline.post('/v18.0/listeners/{id}/tickets', {
    params: { path: { id: endpointId } },
    signal,
  });
  const socket = new WebSocket(url.replace(/^http/, 'ws') + path, STREAM_PROTOCOL, {
    headers: { authorization: `Bearer ${ticket}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const stop = () => socket.close();
  signal.addEventListener('abort', stop, { once: true });
  socket.on('message', (data) => {
    const delivery = JSON.parse(String(data)) as DeliveryMessage;
    void take(delivery).then((answer) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (error) => reject(new ConnectError(error.message)));
    socket.once('close', () => reject(new ConnectError('the connection was closed')));
  });
  return { ended: end(socket).finally(() => signal.removeEventListener('abort', stop)) };
}

async function end(socket: WebSocket): Promise<string> {
  let silence = setTimeout(() => socket.terminate(), SILENCE_MS);
  socket.on('ping', () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket.terminate(), SILENCE_MS);
  });
  socket.on('error', () => {}); // `close` follows
  return new Promise((resolve, reject) => {
    socket.once('close', (code, reason) => {
      clearTimeout(silence);
      if (code === CLOSE_CODES.deleted || code === CLOSE_CODES.replaced || code === CLOSE_CODES.protocol)
        reject(new CommandError(`The server ended the stream: ${reason}.`));
      else resolve(String(reason) || 'the connection was lost');
    });
  });
}
