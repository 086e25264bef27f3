import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from '../../../src/demo/certificates.js';

/**
 * Front end of Temporal that behaves as Temporal Cloud: every call needs the API key or a client's certificate, and
 * what administers a cluster is refused (https://docs.temporal.io/cloud/operation-api: namespaces and search attributes
 * are the business of another API).
 */
export interface CloudFrontend {
  /** `host:port` */
  readonly address: string;
  /** The calls that were refused, such as `RegisterNamespace`. */
  readonly refused: readonly string[];
  /** Calls that were made, by name. */
  readonly calls: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface CloudFrontendOptions {
  /** `host:port` of the server behind it. */
  upstream: string;
  /** Value that the header `authorization` must have; absent: no key is demanded. */
  apiKey?: string;
  /** Serves TLS with it, as Cloud does; with an authority, clients must show a certificate of it. */
  tls?: ServerCertificate & { clientAuthority?: string };
}

/** How many calls that list or count came through it. */
export function visibilityCalls({ calls }: Pick<CloudFrontend, 'calls'>): number {
  return (calls.get('ListWorkflowExecutions') ?? 0) + (calls.get('CountWorkflowExecutions') ?? 0);
}

const ADMINISTRATION =
  /\/temporal\.api\.operatorservice\.|\/(?:RegisterNamespace|UpdateNamespace|DeprecateNamespace|DeleteNamespace)$/;
const PERMISSION_DENIED = '7';
const UNAVAILABLE = '14';

export async function startCloudFrontend(options: CloudFrontendOptions): Promise<CloudFrontend> {
  const { upstream, apiKey, tls } = options;
  const refused: string[] = [];
  const calls = new Map<string, number>();
  let behind: ClientHttp2Session | undefined;
  /** Temporal ends connections after some minutes: what is under way goes on, and what comes takes another. */
  const connection = (): ClientHttp2Session => {
    if (behind && !behind.closed && !behind.destroyed) return behind;
    const made = connect(`http://${upstream}`);
    made.on('error', () => {});
    made.once('goaway', () => {
      if (behind === made) behind = undefined;
    });
    behind = made;
    return made;
  };
  const server: Http2Server = tls
    ? (createSecureServer({
        key: tls.key,
        cert: tls.cert,
        ...(tls.clientAuthority !== undefined && {
          ca: tls.clientAuthority,
          requestCert: true,
          rejectUnauthorized: true,
        }),
      }) as unknown as Http2Server)
    : createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const path = String(headers[':path']);
    const call = path.split('/').at(-1) ?? '';
    calls.set(call, (calls.get(call) ?? 0) + 1);
    stream.on('error', () => {});
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`)
      answer(stream, PERMISSION_DENIED, 'Request unauthorized.');
    else if (ADMINISTRATION.test(path)) {
      refused.push(call);
      answer(stream, PERMISSION_DENIED, 'Request unauthorized.');
    } else pass(stream, headers);
  });

  function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const own = Object.entries(headers).filter(([name]) => name !== ':authority' && name !== ':scheme');
    const request = connection().request(Object.fromEntries(own));
    let trailers: Record<string, unknown> = {};
    request.on('trailers', (received) => {
      trailers = received;
    });
    request.on('response', (received) => {
      if (stream.destroyed) return;
      const isWhole = 'grpc-status' in received;
      stream.respond(withoutHidden(received), isWhole ? {} : { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers(withoutHidden(trailers)));
      request.pipe(stream);
    });
    request.on('error', () => {
      if (!stream.destroyed && !stream.headersSent) answer(stream, UNAVAILABLE, 'the server is away');
      else stream.destroy();
    });
    stream.on('close', () => request.close());
    stream.pipe(request);
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    calls,
    async close() {
      for (const session of sessions) session.destroy();
      behind?.destroy();
      server.close();
    },
  };
}

/** A whole answer without a message. */
function answer(stream: ServerHttp2Stream, status: string, message: string): void {
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message },
    { endStream: true },
  );
}

/** Headers without the symbols that Node.js hides in them. */
function withoutHidden(headers: object): Record<string, string> {
  return Object.fromEntries(Object.entries(headers));
}
