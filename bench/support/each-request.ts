import { request } from 'undici';
import { purchase } from './load.js';
import type { BenchAccount } from './system.js';

/** A kind of request, sent again and again. */
export interface RequestKind {
  name: string;
  send(count: number): Promise<{ status: number; eventId?: string }>;
}

/** The answer to one request. */
export interface Answer {
  kind: string;
  /** 0 if the connection ended without an answer, or none came within a minute: `problem` says which. */
  status: number;
  problem?: string;
  /** Id of the event, if it was accepted. */
  eventId?: string;
  /** As by `performance.now()`. */
  sentAt: number;
  /** From the request to the end of its answer, milliseconds. */
  ms: number;
}

/** Longer than an answer may take. Milliseconds. */
const GIVE_UP_MS = 60_000;
const RUN = Date.now();

/**
 * One request of each kind that a producer, a subscriber or an application sends. Makes an OAuth client for the last.
 */
export async function prepareRequests({ url, key }: BenchAccount): Promise<RequestKind[]> {
  const authorization = `Bearer ${key}`;
  const json = { 'content-type': 'application/json' };
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ) => {
    const limits = { headersTimeout: GIVE_UP_MS, bodyTimeout: GIVE_UP_MS };
    const answer = await request(url + path, {
      method,
      headers: { authorization, ...headers },
      ...limits,
      ...(body !== undefined && { body }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, text };
  };
  const client = await call('POST', '/v18.0/oauth_clients', json, JSON.stringify(CLIENT));
  if (client.status !== 201)
    throw new Error(`the client's registration answered ${client.status}: ${client.text}`);
  const { id, secret } = JSON.parse(client.text) as { id: string; secret: string };
  const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const form = { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' };
  const token = 'grant_type=client_credentials&scope=profile%3Aread';
  return [
    {
      name: 'POST /events, with a key',
      async send(count) {
        const headers = { ...json, 'idempotency-key': `${RUN}-${count}` };
        const { status, text } = await call('POST', '/v18.0/events/purchase', headers, purchase('order-1'));
        return status === 202 ? { status, eventId: (JSON.parse(text) as { id: string }).id } : { status };
      },
    },
    { name: 'GET /endpoints', send: () => call('GET', '/v18.0/endpoints') },
    { name: 'GET /deliveries', send: () => call('GET', '/v18.0/deliveries') },
    { name: 'GET /v18.0/me', send: () => call('GET', '/v18.0/me') },
    { name: 'POST /oauth/token', send: () => call('POST', '/oauth/token', form, token) },
  ];
}

const CLIENT = {
  name: 'drill',
  scopes: ['profile:read'],
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
};

let sent = 0;

/**
 * Sends one of each kind at a steady rate, whether they are answered or not, until `stop`, which waits for the last
 * answer.
 */
export function sendAll(
  kinds: readonly RequestKind[],
  everyMs: number,
): { answers: Answer[]; stop(): Promise<void> } {
  const answers: Answer[] = [];
  const open = new Set<Promise<void>>();
  const sendOne = async ({ name, send }: RequestKind) => {
    const sentAt = performance.now();
    sent += 1;
    const outcome = await send(sent).catch((error: Error & { code?: string }) => ({
      status: 0,
      problem: error.code ?? error.message,
    }));
    answers.push({ kind: name, sentAt, ms: performance.now() - sentAt, ...outcome });
  };
  const timer = setInterval(() => {
    for (const kind of kinds) {
      const sending = sendOne(kind).finally(() => open.delete(sending));
      open.add(sending);
    }
  }, everyMs);
  return {
    answers,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
