/** An answer of the API; `status` 0: there was none. */
export interface Answer {
  status: number;
  /** As JSON, with any shape; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: who asks knows what is answered
  json: any;
  text: string;
  retryAfterMs: number | undefined;
  /** The connection was refused, so nothing was asked for. */
  isRefused: boolean;
}

/** Longer than Hookline takes for any answer. */
const LIMIT_MS = 15_000;

/** Asks once. Never rejects. @param key empty for what is public */
export async function ask(
  url: string,
  key: string,
  method: string,
  path: string,
  options: { body?: unknown; raw?: string; headers?: Record<string, string>; account?: string } = {},
): Promise<Answer> {
  const { body, raw = body === undefined ? undefined : JSON.stringify(body), headers, account } = options;
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...(raw !== undefined && { 'content-type': 'application/json' }),
        ...(account !== undefined && { 'hookline-account': account }),
        ...headers,
      },
      ...(raw !== undefined && { body: raw }),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status: response.status,
      text,
      json: isJson ? JSON.parse(text) : undefined,
      retryAfterMs: Number.isNaN(seconds) ? undefined : seconds * 1_000,
      isRefused: false,
    };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    return {
      status: 0,
      text: `${(error as Error).message} ${code ?? ''}`,
      json: undefined,
      retryAfterMs: undefined,
      isRefused: code === 'ECONNREFUSED',
    };
  }
}
