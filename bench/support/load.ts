import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import type { BenchAccount } from './system.js';

/** A purchase of ordinary size. */
export const purchase = (order: string) =>
  JSON.stringify({
    order_id: order,
    customer_email: 'ada@example.com',
    total: 12.5,
    items: [{ name: 'Notebook', qty: 2 }],
    created_at: '2026-01-31T12:00:00Z',
  });

let orders = 0;

/** An event that was sent. */
export interface Sent {
  id: string;
  /** Its `order_id`. */
  order: string;
  /** As by `performance.now()`: when the request was sent, and when its answer had come. */
  sentAt: number;
  answeredAt: number;
}

function sender(account: Pick<BenchAccount, 'url' | 'key'>, connections: number) {
  const pool = new Pool(account.url, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
  const send = async (): Promise<Sent> => {
    orders += 1;
    const order = `order-${orders}`;
    const sentAt = performance.now();
    const response = await pool.request({
      method: 'POST',
      path: '/v18.0/events/purchase',
      headers,
      body: purchase(order),
    });
    const body = (await response.body.json()) as { id: string };
    if (response.statusCode !== 202)
      throw new Error(`answered ${response.statusCode}: ${JSON.stringify(body)}`);
    return { id: body.id, order, sentAt, answeredAt: performance.now() };
  };
  return { send, close: () => pool.close() };
}

/** Sends events as fast as they are answered. */
export async function saturate(
  account: BenchAccount,
  events: number,
  concurrency: number,
  onAnswer: (sent: Sent) => void = () => {},
): Promise<Sent[]> {
  const { send, close } = sender(account, concurrency);
  const sent: Sent[] = [];
  let left = events;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left > 0) {
        left -= 1;
        const answered = await send();
        sent.push(answered);
        onAnswer(answered);
      }
    }),
  );
  await close();
  return sent;
}

/** The length of the warm-up, milliseconds: by then Node.js has compiled what is used often. */
export const WARM_UP_MS = 5_000;

/** Keeps a service busy until it is warm. @returns how many events it was sent */
export async function warmUp(account: BenchAccount, concurrency: number): Promise<number> {
  const began = performance.now();
  let sent = 0;
  while (performance.now() - began < WARM_UP_MS)
    sent += (await saturate(account, concurrency * 4, concurrency)).length;
  return sent;
}

/** Sends events at a steady rate for so many seconds or until it is told to stop, whether they are answered or not. */
export async function sendSteadily(
  account: Pick<BenchAccount, 'url' | 'key'>,
  perSecond: number,
  until: number | AbortSignal,
): Promise<Sent[]> {
  const { send, close } = sender(account, 64);
  const sent = await steadily(perSecond, until, send);
  await close();
  return sent;
}

/**
 * Begins something at a steady rate, whether what began before is over or not.
 *
 * @param until for how many seconds, or a signal to stop
 * @returns what each came to, in the order in which they began
 */
export async function steadily<T>(
  perSecond: number,
  until: number | AbortSignal,
  act: () => Promise<T>,
): Promise<T[]> {
  const goesOn = (index: number) => (typeof until === 'number' ? index < perSecond * until : !until.aborted);
  const began = performance.now();
  const acting: Promise<T>[] = [];
  for (let index = 0; goesOn(index); index += 1) {
    const due = began + (index * 1_000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    acting.push(act());
  }
  return Promise.all(acting);
}
