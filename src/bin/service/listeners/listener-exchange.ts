import type { ListenerExchange } from '../../../../activities/http/exchange.js';
import { digestOf } from '../../../../packages/egress/src/index.js';
import type { ListenerStreams } from '../../../api/listeners/streams.js';
import type { Settings } from '../../../config/schema.js';
import type { SecretBox } from '../../../domain/access/secret-box.js';
import {
  disconnected,
  type ListenerRequest,
  type ListenerResult,
  NOT_CONNECTED,
} from '../../../domain/listener/listener.js';
import {
  newPass,
  openRelayed,
  RELAY_HEADER,
  RELAY_PATH,
  sealRelayed,
} from '../../../domain/listener/relay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ListenerRepository } from '../../../models/endpoint/listeners.js';
import { boundedFetch } from '../../process/bounded-fetch.js';
import { requireSecretBox } from '../../process/secrets.js';
import type { Servers } from '../servers.js';

/** Beyond the time for the receiver's response, for the way there and back, milliseconds. */
const WAY_MS = 1_000;
/** The most that is read of what a process relays, bytes: a message of a listener, which has 512 KiB, sealed. */
const MAX_RELAYED_BYTES = 1_024 * 1_024;

const send = boundedFetch(MAX_RELAYED_BYTES);

/**
 * Sends requests to listeners: over a stream of this process, or through the process that holds it.
 *
 * @param local the streams of this process, if it serves the API
 */
export function createListenerExchange(
  settings: Settings,
  { database: { listeners } }: Servers,
  local: ListenerStreams | undefined,
): ListenerExchange {
  const box = requireSecretBox(settings);
  return async (endpointId, { headers, body = '', timeoutMs }) => {
    const began = performance.now();
    const request = { headers, body, timeout_ms: timeoutMs };
    const result = await (local?.exchange(endpointId, request) ?? relay(listeners, box, endpointId, request));
    const trace = { timings: { first_byte: Math.round(performance.now() - began) } };
    if ('error_code' in result) return { ...result, trace };
    const { status_code: statusCode, ...answer } = result;
    const read = Buffer.from(answer.body);
    const facts = { bodyBytes: read.length, bodySha256: digestOf(read), isCut: false };
    return { statusCode, ...answer, ...facts, trace };
  };
}

async function relay(
  listeners: ListenerRepository,
  box: SecretBox,
  endpointId: string,
  request: ListenerRequest,
): Promise<ListenerResult> {
  const node = await listeners.holder(endpointId);
  if (node === undefined) return NOT_CONNECTED;
  try {
    const response = await send(`${node}${RELAY_PATH}${endpointId}`, {
      method: 'POST',
      headers: { [RELAY_HEADER]: newPass(box, endpointId, sharedNow()) },
      body: sealRelayed(box, endpointId, 'request', request),
      redirect: 'error',
      signal: AbortSignal.timeout(request.timeout_ms + WAY_MS),
    });
    if (response.ok) return openRelayed(box, endpointId, 'result', await response.text());
  } catch {
    // As when it refuses: nobody is there who has the key.
  }
  return disconnected('the process that holds the stream of the listener could not be reached');
}
