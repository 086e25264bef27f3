import type { Delivery } from '../../src/domain/view/delivery-view.js';
import { until } from './until.js';

/** An answer of the API. */
export interface Answer {
  status: number;
  headers: Headers;
  /** As text. */
  text: string;
  /** As JSON, with any shape: assertions say which. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects
  json: any;
}

export interface Accepted {
  id: string;
  kind: string;
  created_at: string;
  delivery_count: number;
  deliveries: { id: string; endpoint_id: string }[];
}

/** Calls of a test as an API client. */
export interface ApiClient {
  url: string;
  accountId: string;
  key: string;
  keyId: string;
  request(
    method: string,
    path: string,
    options?: { body?: unknown; raw?: string | Buffer; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** Registers an endpoint for purchases. @throws where it is refused */
  register(targetUrl: string, more?: Record<string, unknown>): Promise<{ id: string; secret: string }>;
  /** Posts a purchase. @throws where it is not accepted */
  purchase(body?: string | Buffer, headers?: Record<string, string>): Promise<Accepted>;
  delivery(id: string): Promise<Delivery>;
  /** Waits until a delivery has come to what the condition asks for. */
  deliveryUntil(id: string, condition: (delivery: Delivery) => boolean): Promise<Delivery>;
}

/** A purchase as a producer sends it. */
export const PURCHASE = JSON.stringify({
  order_id: 'order-1',
  customer_email: 'ada@example.com',
  total: 12.5,
  items: [{ name: 'Notebook', qty: 2 }],
  created_at: '2026-01-31T12:00:00Z',
});

/** A client whose endpoints have these settings, unless they have others. */
export function registering(client: ApiClient, settings: Record<string, unknown>): ApiClient {
  return { ...client, register: (targetUrl, more) => client.register(targetUrl, { ...settings, ...more }) };
}

/** A client with an account's key. */
export function apiClient(url: string, access: { accountId: string; key: string; keyId: string }): ApiClient {
  const request: ApiClient['request'] = async (method, path, { body, raw, headers } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${access.key}`,
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };
  const expect = async (status: number, answer: Promise<Answer>): Promise<Answer> => {
    const got = await answer;
    if (got.status !== status) throw new Error(`expected ${status}, got ${got.status}: ${got.text}`);
    return got;
  };
  const delivery = async (id: string) =>
    (await expect(200, request('GET', `/v18.0/deliveries/${id}`))).json as Delivery;

  return {
    url,
    ...access,
    request,
    delivery,
    async register(targetUrl, more = {}) {
      const body = { target_url: targetUrl, event_kinds: ['purchase'], ...more };
      return (await expect(201, request('POST', '/v18.0/endpoints', { body }))).json;
    },
    async purchase(body = PURCHASE, headers = {}) {
      return (await expect(202, request('POST', '/v18.0/events/purchase', { raw: body, headers }))).json;
    },
    deliveryUntil: (id, condition) => until(() => delivery(id), condition),
  };
}
