import { Agent, request } from 'undici';
import {
  type AnswerMessage,
  type DeliveryMessage,
  MAX_ANSWER_BODY,
  MAX_ANSWER_HEADERS,
  type ReceiverError,
} from '../../../domain/listener/listener.js';
import { cutText } from '../../../domain/text/unicode.js';

/** The most that is read of a body, bytes: a character has three at most for each unit of UTF-16. */
const MAX_READ_BYTES = 3 * MAX_ANSWER_BODY;

/** Posts deliveries to a receiver on this machine, as Hookline would: no redirects, connections kept. */
export function createForwarder(url: string) {
  const dispatcher = new Agent({ connections: 128 });
  return {
    /** Posts it, headers and body as they were signed. It reports failures; it does not throw them. */
    async post({ number, headers, body, timeout_ms }: DeliveryMessage): Promise<AnswerMessage> {
      const limit = AbortSignal.timeout(timeout_ms);
      try {
        const response = await request(url, {
          method: 'POST',
          headers: { 'accept-encoding': 'identity', ...headers },
          body,
          dispatcher,
          signal: limit,
        });
        const text = await beginningOf(response.body);
        const answered = Object.entries(response.headers).slice(0, MAX_ANSWER_HEADERS);
        return {
          type: 'response',
          number,
          status_code: response.statusCode,
          headers: Object.fromEntries(
            answered.map(([name, value]) => [name, cutText([value].flat().join(', '), 8_192)]),
          ),
          body: cutText(text, MAX_ANSWER_BODY),
        };
      } catch (error) {
        return { type: 'failure', number, error_code: limit.aborted ? 'timeout' : reasonOf(error) };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Beginning of a body: as much as is passed on, and a little more. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_READ_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: unknown): ReceiverError {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) return 'connection_reset';
  return 'connection_failed';
}
