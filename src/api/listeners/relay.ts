import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { NOT_CONNECTED } from '../../domain/listener/listener.js';
import { openRelayed, RELAY_HEADER, RELAY_PATH, readPass, sealRelayed } from '../../domain/listener/relay.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { ListenerStreams } from './streams.js';

/**
 * Takes requests to listeners from other processes of this installation, and gives them to the streams that this
 * process holds. Everything else goes to the API. Only who has the installation's secret key can make such a request,
 * read it, or read the response.
 */
export function withRelay(streams: ListenerStreams, box: SecretBox, api: RequestListener): RequestListener {
  return (request, response) => {
    if (!request.url?.startsWith(RELAY_PATH)) return api(request, response);
    answer(streams, box, request, response).catch(() => response.destroy());
  };
}

async function answer(
  streams: ListenerStreams,
  box: SecretBox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const endpointId = request.url?.slice(RELAY_PATH.length) ?? '';
  // Before the body is read: a stranger is not to make work.
  const pass = request.headers[RELAY_HEADER];
  if (
    request.method !== 'POST' ||
    typeof pass !== 'string' ||
    !readPass(box, endpointId, pass, sharedNow())
  ) {
    request.resume();
    response.writeHead(404).end();
    return;
  }
  const relayed = openRelayed(box, endpointId, 'request', await text(request));
  const result = (await streams.exchange(endpointId, relayed)) ?? NOT_CONNECTED;
  response.end(sealRelayed(box, endpointId, 'result', result));
}
