import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { ServerCertificate } from './certificates.js';
import { listenLocally, plainHeaders, RequestLog } from './local-server.js';

/** How one attempt is answered. Empty: `200` at once, or `401` where the signature is wrong. */
export interface Step {
  status?: number;
  /** Milliseconds to wait before answering. */
  delayMs?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Close the connection instead of answering. */
  destroy?: boolean;
}

/** How the subscriber misbehaves, so that retries can be watched. Empty: not at all. */
export interface Behaviour {
  /** The first N attempts of each `webhook-id` fail; default: all of them if `status` or `refuse` is given. */
  failFirst?: number;
  /** What a failing attempt is answered with. @default 500 */
  status?: number;
  /** The `Retry-After` of a failing attempt: seconds or an HTTP date. */
  retryAfter?: string;
  /** A failing attempt is not answered at all, its connection is closed. */
  refuse?: boolean;
  /** Milliseconds to wait before every answer, good or bad. */
  slowMs?: number;
  /** Step i answers attempt i of each `webhook-id`; later attempts succeed. Replaces everything above. */
  script?: readonly Step[];
}

/** One request, as it arrived. */
export interface Received {
  at: Date;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  /** The raw bytes: what the signature covers. */
  body: Buffer;
  verified: boolean;
  verificationError?: string;
  /** This `webhook-id` was verified and taken before, so a good subscriber does nothing more with it. */
  repeated: boolean;
  /** The status sent; absent while waiting, and for good if the connection ended before. */
  answered?: number;
}

/** A running subscriber. Everything it received stays in memory until it is dropped. */
export interface Subscriber {
  /** The `target_url` to register. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  readonly secret: string | undefined;
  /** Sets the signing secret (`whsec_…`); until then nothing verifies. @throws if it is not base64 */
  setSecret(secret: string): void;
  /** Replaces the behaviour; attempts are counted from here on. */
  behave(behaviour: Behaviour): void;
  /** Resolves with all requests once `predicate` accepts them. @throws after `timeoutMs` */
  waitFor(predicate: (received: readonly Received[]) => boolean, timeoutMs: number): Promise<Received[]>;
  /** Calls back once per request, when it has been answered or its connection has ended. */
  onReceived(callback: (received: Received) => void): void;
  /** Stops, ending open connections at once. */
  close(): Promise<void>;
}

/**
 * Starts an HTTPS server on 127.0.0.1 that receives webhooks as the Standard Webhooks specification asks of a
 * consumer: it verifies the signature and the timestamp (5 minutes either way) over the raw body, knows an event
 * it has already taken by its `webhook-id`, and answers at once.
 *
 * @param options.certificate must be valid for `localhost`
 * @param options.port default: any free one
 * @throws the system's error when the port is taken
 */
export async function startSubscriber(options: {
  certificate: ServerCertificate;
  port?: number;
  behaviour?: Behaviour;
}): Promise<Subscriber> {
  const log = new RequestLog<Received>();
  const finished = new EventEmitter<{ request: [Received] }>();
  const taken = new Set<string>();
  const attempts = new Map<string, number>();
  let behaviour = options.behaviour ?? {};
  let secret: string | undefined;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // the caller gave up while sending
    const headers = plainHeaders(request);
    const id = headers['webhook-id'] ?? '';
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);

    const verificationError = verify(secret, body, headers);
    const verified = verificationError === undefined;
    const step = stepFor(behaviour, attempt);
    const status = step.status ?? (verified ? 200 : 401);
    const entry: Received = {
      at: new Date(),
      path: request.url ?? '/',
      headers,
      body,
      verified,
      ...(verificationError !== undefined && { verificationError }),
      repeated: verified && taken.has(id),
    };
    // A failed attempt has not been taken: the event must count as new when it comes again.
    if (verified && !step.destroy && status < 300) taken.add(id);

    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
      if (response.writableFinished) entry.answered = status;
      log.changed();
      finished.emit('request', entry);
    });
    log.add(entry);
    // The wait ends early, in silence, if the caller gives up.
    if (step.delayMs) await delay(step.delayMs, undefined, { signal: gone.signal }).catch(() => {});
    if (step.destroy) request.socket.destroy();
    else response.writeHead(status, step.headers).end(step.body);
  }

  const server = createServer(options.certificate, (request, response) => void receive(request, response));
  const { port, close } = await listenLocally(server, options.port);

  return {
    url: `https://localhost:${port}/webhooks`,
    port,
    received: log.entries,
    get secret() {
      return secret;
    },
    setSecret(value) {
      new Webhook(value); // throws on a malformed secret: here, not on the first delivery
      secret = value;
    },
    behave(value) {
      behaviour = value;
      attempts.clear();
    },
    waitFor: (predicate, timeoutMs) => log.waitFor(predicate, timeoutMs),
    onReceived: (callback) => void finished.on('request', callback),
    close,
  };
}

/** Why the request cannot be trusted, or `undefined` if it can. */
function verify(
  secret: string | undefined,
  body: Buffer,
  headers: Record<string, string>,
): string | undefined {
  if (secret === undefined) return 'No secret to verify with';
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The answer to an attempt, counted from 1. */
function stepFor(behaviour: Behaviour, attempt: number): Step {
  const { script, status, refuse, retryAfter, slowMs = 0 } = behaviour;
  if (script) return script[attempt - 1] ?? {};
  const failFirst = behaviour.failFirst ?? (refuse || status !== undefined ? Number.POSITIVE_INFINITY : 0);
  if (attempt > failFirst) return { delayMs: slowMs };
  return {
    delayMs: slowMs,
    status: status ?? 500,
    ...(refuse && { destroy: true }),
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  };
}
