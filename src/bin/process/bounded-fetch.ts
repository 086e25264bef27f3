/** A body is longer than its reader takes, or encoded though it was asked for as it is. */
class UnboundedBodyError extends Error {
  override readonly name = 'UnboundedBodyError';
}

/**
 * A `fetch` that asks for bodies as they are (`identity`, RFC 9110, section 12.5.3), refuses any other, and reads so
 * many bytes at most: a response of a few bytes cannot become a body of gigabytes.
 *
 * @param mostBytes of a body @returns rejects with what `fetch` rejects with, or an {@link UnboundedBodyError}; so does
 * reading a body
 */
export function boundedFetch(mostBytes: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('accept-encoding', 'identity');
    const response = await fetch(request);
    const { status, statusText, headers, body } = response;
    const encoding = headers.get('content-encoding') ?? 'identity';
    if (encoding.toLowerCase() !== 'identity') {
      await body?.cancel();
      throw new UnboundedBodyError('its response is encoded, which was not asked for');
    }
    return new Response(body?.pipeThrough(atMost(mostBytes)), { status, statusText, headers });
  };
}

/** Passes so many bytes on, and fails at the next one, which also ends what they come from. */
function atMost(mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      if (length > mostBytes) throw new UnboundedBodyError(`its response is longer than ${mostBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}

/** The most that a command reads of a response, and of a line of an export, bytes. */
export const MAX_RESPONSE_BYTES = 32 * 1_024 * 1_024;
/** How commands make requests. */
export const boundedRequest = boundedFetch(MAX_RESPONSE_BYTES);
