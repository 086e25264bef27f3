import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import {
  type AnswerMessage,
  CLOSE_CODES,
  type DeliveryMessage,
  disconnected,
  type ListenerRequest,
  type ListenerResult,
  MAX_ANSWER_BODY,
  MAX_ANSWER_HEADERS,
  RECEIVER_ERRORS,
  type ReceiverError,
} from '../../domain/listener/listener.js';
import { MESSAGE_COST, type StreamBudget } from '../../domain/listener/stream-budget.js';
import { sharedNow } from '../../domain/time/shared-time.js';

/**
 * On one stream: deliveries that may wait for a response, bytes that may wait to be sent, and deliveries whose time is
 * up and whose responses may still come.
 */
const MOST = { pending: 1_000, bufferedBytes: 16 * 1024 * 1024, late: 10_000 };

const number = z.int().min(0);
const answerSchema: z.ZodType<AnswerMessage> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('response'),
    number,
    status_code: z.int().min(200).max(599),
    headers: z
      .record(z.string().max(256), z.string().max(8_192))
      .refine((headers) => Object.keys(headers).length <= MAX_ANSWER_HEADERS),
    body: z.string().max(MAX_ANSWER_BODY),
  }),
  z.strictObject({ type: z.literal('failure'), number, error_code: z.enum(RECEIVER_ERRORS) }),
]);

const WORDS: Record<ReceiverError, string> = {
  timeout: 'the receiver behind the listener did not respond in time',
  connection_refused: 'the receiver behind the listener refused the connection',
  connection_reset: 'the receiver behind the listener closed the connection before a response',
  connection_failed: 'the listener could not connect to its receiver',
};

/** The connection of a program that receives the deliveries of one listener. */
export class ListenerStream {
  private readonly socket: WebSocket;
  private readonly budget: StreamBudget;
  private readonly pending = new Map<number, (result: ListenerResult) => void>();
  /** Those that were not answered in time, and so may be once. */
  private readonly late = new Set<number>();
  private readonly pings: NodeJS.Timeout;
  /** Called when nothing waits for a response any more. */
  private onIdle: (() => void) | undefined;
  private next = 0;
  private isAlive = true;
  private isClosing = false;

  /**
   * @param connection what carries the socket: every byte counts, also of frames that make no message
   * @param budget of the account, which its streams share
   */
  constructor(socket: WebSocket, connection: Duplex, budget: StreamBudget) {
    this.socket = socket;
    this.budget = budget;
    connection.on('data', (bytes: Buffer) => this.spend(bytes.length));
    socket.on('message', (data) => {
      this.spend(MESSAGE_COST);
      if (!this.isClosing) this.take(String(data));
    });
    // The server of these sockets answers no ping by itself: it would answer any number.
    socket.on('ping', (data) => {
      if (this.spend(MESSAGE_COST) && socket.readyState === socket.OPEN) socket.pong(data);
    });
    socket.on('pong', () => {
      this.spend(MESSAGE_COST);
      this.isAlive = true;
    });
    socket.on('error', () => socket.terminate()); // `close` follows
    socket.once('close', () => this.end());
    // One that has not answered by the next time is gone.
    this.pings = setInterval(() => this.ping(), 10_000);
  }

  /** Resolves when the connection has ended. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState === this.socket.CLOSED) resolve();
      else this.socket.once('close', () => resolve());
    });
  }

  /** Sends a request and waits for its response. It reports failures; it does not throw them. */
  exchange(request: ListenerRequest): Promise<ListenerResult> {
    if (this.socket.readyState !== this.socket.OPEN) return Promise.resolve(LOST);
    if (this.pending.size >= MOST.pending || this.socket.bufferedAmount > MOST.bufferedBytes)
      return Promise.resolve({ error_code: 'timeout', error: 'the listener has too much to do' });
    const message: DeliveryMessage = { type: 'delivery', number: this.next, ...request };
    this.next += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.expectLate(message.number);
        settle({ error_code: 'timeout', error: 'the listener did not respond in time' });
      }, request.timeout_ms);
      const settle = (result: ListenerResult) => {
        clearTimeout(timer);
        this.pending.delete(message.number);
        resolve(result);
        if (this.pending.size === 0) this.onIdle?.();
      };
      this.pending.set(message.number, settle);
      this.socket.send(JSON.stringify(message));
    });
  }

  /** Waits for the responses that are due, then closes. No further request may be given to it. */
  async finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
      if (this.pending.size === 0) resolve();
    });
    this.close('restart', 'the service stops');
  }

  close(why: keyof typeof CLOSE_CODES, reason: string): void {
    this.isClosing = true;
    this.socket.close(CLOSE_CODES[why], reason);
    // After a protocol error, nothing more is read, not even the close frame.
    if (why === 'protocol') this.socket.pause();
    // A program that does not close its side must not keep the connection.
    setTimeout(() => this.socket.terminate(), 1_000).unref();
  }

  private take(text: string): void {
    const message = parseAnswer(text);
    if (!message) {
      this.close('protocol', 'a message is not valid');
      return;
    }
    const settle = this.pending.get(message.number);
    if (!settle && !this.late.delete(message.number)) {
      this.close('protocol', 'a message is for no delivery that waits for a response');
      return;
    }
    if (message.type === 'response') {
      const { status_code, headers, body } = message;
      settle?.({ status_code, headers, body });
    } else settle?.({ error_code: message.error_code, error: WORDS[message.error_code] });
  }

  private expectLate(number: number): void {
    this.late.add(number);
    const [oldest] = this.late;
    if (this.late.size > MOST.late && oldest !== undefined) this.late.delete(oldest);
  }

  /** Takes from the budget, and reads no more for a while if that is used up. @returns whether it is not */
  private spend(bytes: number): boolean {
    const waitMs = this.budget.spend(bytes, sharedNow());
    if (waitMs === 0) return true;
    if (!this.socket.isPaused) {
      this.socket.pause();
      setTimeout(() => {
        if (!this.isClosing) this.socket.resume();
      }, waitMs).unref();
    }
    return false;
  }

  private ping(): void {
    if (this.isAlive) this.socket.ping();
    else this.socket.terminate();
    this.isAlive = false;
  }

  private end(): void {
    clearInterval(this.pings);
    for (const settle of [...this.pending.values()]) settle(LOST);
  }
}

const LOST = disconnected('the connection of the listener ended before it responded');

function parseAnswer(text: string): AnswerMessage | undefined {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
