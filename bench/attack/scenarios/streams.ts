import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { STREAM_PROTOCOL } from '../../../src/domain/listener/listener.js';
import { type Answers, type Attack, type Hostile, insist } from '../attack.js';

const FRAME = JSON.stringify({ type: 'failure', number: 9, error_code: 'timeout' });
/** Most bytes that wait to be sent before more are: the attacker's own memory. */
const MOST_BUFFERED = 1_000_000;

export const frames: Attack = {
  name: 'stream-frames',
  about: 'two listeners answer without pause what nobody asked them',
  async prepare({ account, answers }) {
    const hostile = await account();
    return (stop) => insist(2, stop, () => flood(hostile, answers, stop));
  },
};

async function flood(hostile: Hostile, answers: Answers, stop: AbortSignal): Promise<void> {
  const made = await hostile.request('POST', '/v18.0/listeners', { event_kinds: ['purchase'] });
  const { id } = JSON.parse(made.text) as { id?: string };
  if (id === undefined) return void (await delay(200));
  const { text } = await hostile.request('POST', `/v18.0/listeners/${id}/tickets`, '');
  const socket = openStream(hostile.url, id, (JSON.parse(text) as { ticket?: string }).ticket ?? '');
  const began = performance.now();
  const closed = once(socket, 'close').then(([code]) => {
    if (!stop.aborted) answers.note(`closed with ${code}`, 0, performance.now() - began);
  });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'open').catch(() => {}), closed]);
  while (!stop.aborted && socket.readyState === WebSocket.OPEN) {
    for (let sent = 0; sent < 500 && socket.bufferedAmount < MOST_BUFFERED; sent += 1) socket.send(FRAME);
    await delay(0);
  }
  socket.terminate();
  await closed;
  await hostile.request('DELETE', `/v18.0/endpoints/${id}`);
}

export const tickets: Attack = {
  name: 'bad-tickets',
  about: 'upgrades with tickets that were never given, which count against their address',
  environment: () => ({ HOOKLINE_RATE_LIMIT_ADDRESS: '300/1m' }),
  async prepare({ account, answers }) {
    const { url } = await account();
    return (stop) =>
      insist(8, stop, async (side) => {
        const socket = openStream(url, `ep_01JD8F${String(side).padStart(20, '0')}`, 'made-up');
        const [status] = await new Promise<[number | string]>((resolve) => {
          socket.once('unexpected-response', (_request, response) => {
            response.resume();
            socket.terminate();
            resolve([response.statusCode ?? 0]);
          });
          socket.once('error', (error) => resolve([(error as { code?: string }).code ?? 'lost']));
          socket.once('open', () => resolve(['opened']));
        });
        answers.note(status, 0, 0);
      });
  },
};

export const pages: Attack = {
  name: 'costly-pages',
  about: '/metrics and /readyz without pause',
  async prepare({ account }) {
    const hostile = await account();
    return (stop) =>
      insist(8, stop, (side) => hostile.request('GET', side % 2 === 0 ? '/metrics' : '/readyz'));
  },
};

export function openStream(url: string, id: string, ticket: string): WebSocket {
  const headers = { authorization: `Bearer ${ticket}` };
  return new WebSocket(`${url.replace(/^http/, 'ws')}/v18.0/listeners/${id}/stream`, STREAM_PROTOCOL, {
    headers,
  });
}
