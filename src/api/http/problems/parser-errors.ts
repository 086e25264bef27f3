import { maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../../../domain/basics/ids.js';
import { Problem } from '../../../domain/http/problem.js';
import { PROBLEM_TYPE, problemDocument } from './document.js';

/**
 * Answers what Node.js refuses before any handler sees it: by itself it would send a status and nothing else.
 *
 * @param publicUrl where `/errors/{code}` says more about a problem
 */
export function answerParserErrors(server: Server, publicUrl: () => string): void {
  /** Responses that a connection is being sent. */
  const underWay = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const own = underWay.get(socket) ?? new Set();
    underWay.set(socket, own.add(response));
    response.once('close', () => own.delete(response));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = [...(underWay.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (begun || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.once('finish', () => socket.destroy());
    socket.end(responseOf(problemOf(error), publicUrl()));
  });
  server.on('checkExpectation', ({ headers }, response) => {
    const detail = `Expect: ${headers.expect} cannot be met. Leave it out, or send Expect: 100-continue.`;
    const { status, body, ...rest } = parts(new Problem('expectation_failed', detail), publicUrl());
    response.writeHead(status, rest.headers).end(body);
  });
}

/** @param error of Node.js's parser, or that a time limit of the server has passed */
function problemOf({ code = '', message }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem(
      'head_too_large',
      `The request line and the headers have more than ${maxHeaderSize} bytes. Send a shorter query, or fewer and shorter headers.`,
    );
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new Problem('payload_too_large', 'The extensions of a chunk are too long. Leave them out.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('request_timeout', 'The request did not arrive whole in time. Send it again.');
  return new Problem('malformed_request', `The request is not valid HTTP/1.1: ${message}.`);
}

function parts(problem: Problem, publicUrl: string) {
  const request_id = newId('request');
  const body = JSON.stringify(problemDocument(problem, publicUrl, request_id));
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': request_id,
    'x-content-type-options': 'nosniff',
    // Scripts of every origin may read what the API answers.
    'access-control-allow-origin': '*',
    connection: 'close',
  };
  return { status: problem.status, headers, body };
}

function responseOf(problem: Problem, publicUrl: string): string {
  const { status, headers, body } = parts(problem, publicUrl);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
