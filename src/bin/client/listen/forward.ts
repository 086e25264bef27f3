import { Agent, request } from 'undici';
import {
  type AnswerMessage,
  type DeliveryMessage,
  MAX_ANSWER_BODY,
  MAX_ANSWER_HEADERS,
  type ReceiverError,
} from '../../../domain/listener/listener.js';
import { cutText } from '../../../domain/text/unicode.js';

/** Posts deliveries to a receiver on this machine, as Hookline would: no redirects, connections kept. */
export function createForwarder(url: string) {
  const dispatcher = new Agent({ connections: 128 });
  return {
    /** Posts it, headers and body as they were signed. It reports failures; it does not throw them. */
    async post({ number, headers, body, timeout_ms }: DeliveryMessage): Promise<AnswerMessage> {
      const limit = AbortSignal.timeout(timeout_ms);
      try {
        const response = await request(url, { method: 'POST', headers, body, dispatcher, signal: limit });
        const text = await response.body.text();
        const answered = Object.entries(response.headers).slice(0, MAX_ANSWER_HEADERS);
        return {
          type: 'answer',
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

function reasonOf(error: unknown): ReceiverError {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) return 'connection_reset';
  return 'connection_failed';
}
