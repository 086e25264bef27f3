import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { type CertificateAuthority, issueServerCertificate } from '../../../src/demo/certificates.js';
import { listenLocally, plainHeaders } from '../../../src/demo/local-server.js';
import type { Received } from '../check/collected.js';

/** How a receiver behaves. */
export type Manner =
  | 'well'
  | 'hangs'
  | 'resets'
  | 'flaps'
  | '500'
  | '410'
  /** With `Retry-After` in seconds, and as a date. */
  | '429'
  | '503'
  | 'garbage';

/** Time that `Retry-After` asks for, seconds. */
const RETRY_AFTER_S = 3;

/** Subscribers over HTTPS, which note every request. Each has a path of its own. */
export interface Receivers {
  readonly port: number;
  /** Everything that arrived at any of them; signatures are looked at later. */
  readonly received: Received[];
  /** Has the receiver of a path behave so from now on. */
  behave(path: string, manner: Manner): void;
  /**
   * Looks at the signatures of all requests.
   *
   * @param secretsOf the secrets that an endpoint's receiver has had, by its path
   */
  verify(secretsOf: (path: string) => readonly string[]): void;
  close(): Promise<void>;
}

export async function startReceivers(authority: CertificateAuthority): Promise<Receivers> {
  const manners = new Map<string, Manner>();
  const received: Received[] = [];
  const unverified: { entry: Received; body: string; headers: Record<string, string> }[] = [];
  let count = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // The caller gave up while it sent.
    const path = request.url ?? '/';
    const headers = plainHeaders(request);
    const entry: Received = {
      path,
      eventId: headers['webhook-id'] ?? '',
      attempt: Number(headers['webhook-attempt']),
      timestamp: Number(headers['webhook-timestamp']),
      atMs: Date.now(),
      sha256: createHash('sha256').update(body).digest('hex'),
      isSigned: false,
      ...orderOf(headers['webhook-order']),
    };
    received.push(entry);
    unverified.push({ entry, body: body.toString(), headers });
    count += 1;
    const answer = (status: number, more: Record<string, string> = {}) => {
      entry.answered = status;
      entry.answeredMs = Date.now();
      response.writeHead(status, more).end();
    };
    switch (manners.get(path) ?? 'well') {
      case 'well':
        return answer(200);
      case 'hangs':
        return;
      case 'resets':
        return void request.socket.destroy();
      case 'flaps':
        return answer(count % 2 ? 200 : 503);
      case '500':
        return answer(500);
      case '410':
        return answer(410);
      case '429':
        entry.notBeforeMs = Date.now() + RETRY_AFTER_S * 1_000;
        return answer(429, { 'retry-after': String(RETRY_AFTER_S) });
      case '503': {
        const date = new Date(Math.ceil(Date.now() / 1_000 + RETRY_AFTER_S) * 1_000);
        entry.notBeforeMs = date.getTime();
        return answer(503, { 'retry-after': date.toUTCString() });
      }
      case 'garbage':
        request.socket.end('HTTP/9.9 what?\r\n\0\0\0\r\n\r\n');
    }
  }

  const certificate = await issueServerCertificate(authority, { dns: ['localhost'], ips: ['127.0.0.1'] });
  const server = createServer(certificate, (request, response) => void receive(request, response));
  server.keepAliveTimeout = 60_000;
  const { port, close } = await listenLocally(server);
  return {
    port,
    received,
    behave: (path, manner) => void manners.set(path, manner),
    verify(secretsOf) {
      for (const { entry, body, headers } of unverified.splice(0))
        entry.isSigned = secretsOf(entry.path).some((secret) => isSignedWith(secret, body, headers));
    },
    close,
  };
}

/** `webhook-order: 42;previous=41;key="o:pX3n0bVv2l7Yc1dK"` */
function orderOf(header = ''): Pick<Received, 'order'> {
  const [, number, previous, key] = /^(\d+)(?:;previous=(\d+))?(?:;key="([^"]*)")?$/.exec(header) ?? [];
  if (number === undefined) return {};
  const order = {
    number: Number(number),
    ...(previous !== undefined && { previous: Number(previous) }),
    ...(key !== undefined && { key }),
  };
  return { order };
}

function isSignedWith(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    // As a subscriber does, but for the age: the run may be long over.
    const signatures = (headers['webhook-signature'] ?? '').split(' ');
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    return signatures.includes(new Webhook(secret).sign(headers['webhook-id'] ?? '', at, body));
  } catch {
    return false;
  }
}
