import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Part of undici's response parser. It returns what its parser in WebAssembly is to do next. */
interface AnswerParser {
  onHeadersComplete(status: number, ...more: unknown[]): number;
}

const CONTINUE = 100;
/** Informational as well, and without a meaning here: readers of responses skip it. */
const PROCESSING = 102;

// Has undici take a `100 Continue` that nobody asked for, as a client must (RFC 9110, section 15.2). undici takes it
// for an error, and has no option, but passes other informational responses on, so its parser is told of one of these.
// The parser is reached through the connection.
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { socket: Socket };
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  const parser = symbol && (socket as unknown as Record<symbol, AnswerParser | undefined>)[symbol];
  if (!parser) return;
  const onHeadersComplete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, ...more) =>
    onHeadersComplete(status === CONTINUE ? PROCESSING : status, ...more);
});
