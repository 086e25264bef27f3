import createClient from 'openapi-fetch';
import { HooklineError } from './errors.js';
import { RETRY_DEFAULTS, type RetryOptions, retryingFetch } from './retry.js';
import type { AnswerOf, Call, ItemOf, ListPath, Method, QueryOf, Schemas } from './types.js';

export interface HooklineOptions {
  /** Where the server is, such as `https://hookline.example.com`. In a browser, '' is the page's own server. */
  url: string;
  /** An API key or access token, or what gives one for each request; undefined sends none. */
  token?: string | (() => string | undefined | Promise<string | undefined>);
  /** The account that a platform key acts for, by id or reference: sent as `Hookline-Account`. */
  account?: string;
  /** Sent with each request. */
  headers?: Record<string, string>;
  retry?: RetryOptions;
  /** Instead of the global `fetch`, for a proxy or a test. */
  fetch?: typeof fetch;
}

export interface PostEventOptions {
  /**
   * Default: made for this call, so that its retries start nothing twice. Give your own to make a later repeat safe as
   * well.
   */
  idempotencyKey?: string;
  /** Business keys that are not in the payload, as they are: `{ order_id: '1001', city: 'São Paulo' }`. */
  keys?: Record<string, string>;
  /** Events with the same key are delivered one after the other to endpoints that ask for it. As it is. */
  orderKey?: string;
  /** The version of the kind's schema that the payload is checked against. Default: the newest. */
  schemaVersion?: number;
  /** Ids of the only endpoints that may get the event. Default: every endpoint that it matches. */
  endpoints?: readonly string[];
  signal?: AbortSignal;
}

/** One of several events: as `postEvent` takes it. */
export interface EventToPost extends Omit<PostEventOptions, 'signal'> {
  kind: string;
  /** An object, or JSON as text, which is delivered byte for byte. */
  payload: object | string;
}

export interface PostEventsOptions {
  /** Default: if one event cannot be accepted, none is. `each`: every event is accepted or refused by itself. */
  mode?: 'all_or_nothing' | 'each';
  signal?: AbortSignal;
}

export interface ListOptions<Path extends ListPath> {
  query?: QueryOf<Path>;
  /** For a list below a resource: `{ id: 'ep_…' }`. */
  path?: Record<string, string>;
  signal?: AbortSignal;
}

export interface FeedOptions {
  /** Events behind this position. Default: where the consumer is, and without one from the beginning. */
  after?: string;
  /** Keeps the position under this name, after the loop has dealt with each page. Needs `deliveries:write`. */
  consumer?: string;
  /** Only events that this endpoint is registered for now. */
  endpoint?: string;
  /** Events that were accepted at this time or later, ISO 8601. */
  from?: string;
  /** The event with this number, and those behind it. */
  sequence?: number;
  /** The event of the delivery to `endpoint` that has this number in `webhook-order`, and those behind it. */
  order?: number;
  /** The `key` beside the number in `webhook-order`; absent if it has none. */
  orderKey?: string;
  /** `text`: payloads are strings of what was received. Default: `json`. */
  payload?: 'json' | 'text';
  /** Whether it ends where the feed ends, instead of waiting for the next event. */
  once?: boolean;
  signal?: AbortSignal;
}

/** The longest that the server waits for an event, seconds. */
const FEED_WAIT_S = 25;

type Page = Pick<Schemas['ListedDeliveryPage'], 'paging'> & { data: unknown[] };

type AnyMethod = (
  path: string,
  init?: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/**
 * A client of one server, typed by its OpenAPI document. Every method throws `HooklineError` for an answer that is an
 * error, and `HooklineConnectionError` if there was no answer.
 */
export class Hookline {
  readonly get: Call<'get'>;
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;

  constructor({ url, token, account, headers = {}, retry = {}, fetch: send }: HooklineOptions) {
    const client = createClient<Record<string, Record<Method, object>>>({
      baseUrl: url.replace(/\/+$/, ''),
      headers: { ...headers, ...(account !== undefined && { 'hookline-account': account }) },
      // `fetch` of a browser must be called on its window.
      fetch: retryingFetch(send ?? ((input, init) => fetch(input, init)), { ...RETRY_DEFAULTS, ...retry }),
      querySerializer: { array: { style: 'form', explode: false } },
      // A text is sent as it stands: a payload is delivered byte for byte.
      bodySerializer: (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body)),
    });
    client.use({
      async onRequest({ request }) {
        const value = typeof token === 'function' ? await token() : token;
        if (value !== undefined) request.headers.set('authorization', `Bearer ${value}`);
        return request;
      },
    });
    const call = <M extends Method>(method: AnyMethod) =>
      (async (path: string, init?: object) => {
        const { data, error, response } = await method(path, init);
        if (!response.ok) throw new HooklineError(response, error);
        return data;
      }) as unknown as Call<M>;
    this.get = call<'get'>(client.GET as AnyMethod);
    this.post = call<'post'>(client.POST as AnyMethod);
    this.put = call<'put'>(client.PUT as AnyMethod);
    this.patch = call<'patch'>(client.PATCH as AnyMethod);
    this.delete = call<'delete'>(client.DELETE as AnyMethod);
  }

  /**
   * Posts an event.
   *
   * @param payload an object, or JSON as text, which is delivered byte for byte
   * @returns when every delivery is persisted
   */
  async postEvent(
    kind: string,
    payload: object | string,
    options: PostEventOptions = {},
  ): Promise<Schemas['Acceptance']> {
    return this.post('/v18.0/events/{kind_or_id}', requestOf(kind, payload, options));
  }

  /**
   * Posts an event that is sent at a later time.
   *
   * @param deliverAt at most a year ahead
   */
  async scheduleEvent(
    kind: string,
    payload: object | string,
    deliverAt: Date,
    options: PostEventOptions = {},
  ): Promise<Schemas['ScheduledEvent']> {
    const { params, ...init } = requestOf(kind, payload, options);
    const header = { ...params.header, 'Hookline-Deliver-At': deliverAt.toISOString() };
    return this.post('/v18.0/scheduled_events/{kind_or_id}', { ...init, params: { ...params, header } });
  }

  /**
   * Posts up to 100 events in one request.
   *
   * @returns what became of each, in their order
   */
  async postEvents(
    events: readonly EventToPost[],
    { mode = 'all_or_nothing', signal }: PostEventsOptions = {},
  ): Promise<Schemas['BatchAcceptance']> {
    const members = events.map(({ kind, payload, idempotencyKey = newIdempotencyKey(), ...event }) => {
      const { keys, orderKey: order_key, schemaVersion: schema_version, endpoints: endpoint_ids } = event;
      const rest = JSON.stringify({
        kind,
        idempotency_key: idempotencyKey,
        keys,
        order_key,
        schema_version,
        endpoint_ids,
      });
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      return `${rest.slice(0, -1)},"payload":${text}}`;
    });
    return this.post('/v18.0/events', {
      // Each event has a key: the request may be sent again.
      headers: { 'content-type': 'application/json', 'idempotency-key': newIdempotencyKey() },
      body: `{"mode":"${mode}","events":[${members.join()}]}` as unknown as Schemas['AcceptEventsBody'],
      ...(signal && { signal }),
    });
  }

  /**
   * Every item of a list, page after page, read as the loop needs them:
   * `for await (const d of hookline.list('/v18.0/deliveries'))`.
   */
  async *list<Path extends ListPath>(
    path: Path,
    options: ListOptions<Path> = {},
  ): AsyncGenerator<ItemOf<Path>, void, undefined> {
    for await (const page of this.pages(path, options)) yield* page.data as ItemOf<Path>[];
  }

  /**
   * The events of the account in the order of the feed, which passes over none, and those that come:
   * `for await (const event of hookline.feed({ consumer: 'billing' }))`. A consumer gets an event again if the loop was
   * left before the end of its page.
   */
  async *feed({
    consumer,
    once = false,
    after,
    from,
    sequence,
    order,
    orderKey,
    signal,
    ...query
  }: FeedOptions = {}): AsyncGenerator<Schemas['FeedEntry'], void, undefined> {
    const where = { consumer, from, sequence, order, order_key: orderKey };
    for (let position = after; ; ) {
      const wait = once ? 0 : FEED_WAIT_S;
      const begin = position === undefined ? where : { after: position };
      const page = await this.get('/v18.0/feed', {
        params: { query: { limit: 100, wait, ...query, ...begin } },
        ...(signal && { signal }),
      });
      yield* page.data;
      const next = page.paging.cursors.after ?? '';
      if (consumer !== undefined && page.data.length > 0)
        await this.put('/v18.0/feed/consumers/{name}', {
          params: { path: { name: consumer } },
          body: { position: next },
        });
      if (next !== '') position = next;
      if (once && page.paging.next === undefined) return;
    }
  }

  /** The pages of a list. A page can have fewer items than `limit`; only the last has no next one. */
  async *pages<Path extends ListPath>(
    path: Path,
    { query, path: pathParams, signal }: ListOptions<Path> = {},
  ): AsyncGenerator<AnswerOf<'get', Path> & Page, void, undefined> {
    const read = this.get as unknown as (path: string, init: object) => Promise<unknown>;
    for (let after: string | undefined; ; ) {
      const params = { query: { ...query, after }, path: pathParams };
      const page = (await read(path, { params, signal })) as AnswerOf<'get', Path> & Page;
      yield page;
      after = page.paging.cursors.after;
      if (page.paging.next === undefined || after === undefined) return;
    }
  }
}

function requestOf(
  kind: string,
  payload: object | string,
  {
    idempotencyKey = newIdempotencyKey(),
    keys,
    orderKey,
    schemaVersion,
    endpoints,
    signal,
  }: PostEventOptions,
) {
  const named = Object.entries(keys ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return {
    params: {
      path: { kind_or_id: kind },
      ...(schemaVersion !== undefined && { query: { schema_version: schemaVersion } }),
      header: {
        'Idempotency-Key': idempotencyKey,
        ...(named.length > 0 && { 'Hookline-Key': named.join(',') }),
        ...(orderKey !== undefined && { 'Hookline-Order-Key': encodeURIComponent(orderKey) }),
        ...(endpoints && { 'Hookline-Endpoints': endpoints.join(',') }),
      },
    },
    headers: { 'content-type': 'application/json' },
    body: payload as Schemas['PurchasePayload'],
    ...(signal && { signal }),
  };
}

/** 128 random bits. Not `randomUUID`, which browsers offer to secure pages alone. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
