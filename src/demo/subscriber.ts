import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { ServerCertificate } from './certificates.js';
import { listenLocally, plainHeaders } from './local-server.js';

/** How the subscriber misbehaves, so that retries can be watched. Empty: not at all. */
export interface Behaviour {
  /** The first N attempts of each `webhook-id` are answered with 500; default: all of them if `refuse` is given. */
  failFirst?: number;
  /** A failing attempt is not answered at all, its connection is closed. */
  refuse?: boolean;
  /** Milliseconds to wait before every response, good or bad. */
  slowMs?: number;
}

/** One request, as it arrived. */
export interface Received {
  headers: Record<string, string>;
  /** The raw bytes: what the signature covers. */
  body: Buffer;
  /** Why it cannot be trusted, or `undefined` if it can. */
  verificationError: string | undefined;
}

/** A running subscriber. Everything it received stays in memory until it is dropped. */
export interface Subscriber {
  /** The `target_url` to register. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Sets the signing secret (`whsec_…`); until then requests wait for it. @throws if it is not base64 */
  setSecret(secret: string): void;
  /** Stops, ending open connections at once. */
  close(): Promise<void>;
}

/**
 * Starts an HTTPS server on 127.0.0.1 that receives webhooks as the Standard Webhooks specification asks of a
 * consumer: it verifies the signature and the timestamp (5 minutes either way) over the raw body, and answers at once,
 * `401` where they are wrong. To the question whether it wants events it says yes, however it misbehaves later.
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
  const received: Received[] = [];
  const attempts = new Map<string, number>();
  const { refuse = false, slowMs = 0, ...behaviour } = options.behaviour ?? {};
  const failFirst = behaviour.failFirst ?? (refuse ? Number.POSITIVE_INFINITY : 0);
  let giveSecret: (secret: Webhook) => void = () => {};
  const secret = new Promise<Webhook>((resolve) => {
    giveSecret = resolve;
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // the caller gave up while sending
    const headers = plainHeaders(request);
    // The endpoint may be asked before its registration has told the secret.
    const verificationError = verify(await secret, body, headers);
    const challenge = verificationError === undefined && challengeOf(headers, body);
    if (challenge) return void response.end(challenge);
    const id = headers['webhook-id'] ?? '';
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    received.push({ headers, body, verificationError });

    // The wait ends early, in silence, if the caller gives up.
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await delay(slowMs, undefined, { signal: gone.signal }).catch(() => {});
    const fails = attempt <= failFirst;
    if (fails && refuse) request.socket.destroy();
    else response.writeHead(fails ? 500 : verificationError === undefined ? 200 : 401).end();
  }

  const server = createServer(options.certificate, (request, response) => void receive(request, response));
  const { port, close } = await listenLocally(server, options.port);

  return {
    url: `https://localhost:${port}/webhooks`,
    port,
    received,
    setSecret(value) {
      giveSecret(new Webhook(value)); // throws on a malformed secret: here, not on the first delivery
    },
    close,
  };
}

/** Why the request cannot be trusted, or `undefined` if it can. */
function verify(secret: Webhook, body: Buffer, headers: Record<string, string>): string | undefined {
  try {
    secret.verify(body, headers, { jsonParse: false });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Response to the question whether this endpoint wants events: docs/endpoints.md, verification. */
function challengeOf(headers: Record<string, string>, body: Buffer): string | undefined {
  if (headers['webhook-event-kind'] !== 'endpoint.verification') return undefined;
  return (JSON.parse(String(body)) as { challenge: string }).challenge;
}
