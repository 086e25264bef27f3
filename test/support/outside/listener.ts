import { once } from 'node:events';
import WebSocket from 'ws';
import { type DeliveryMessage, STREAM_PROTOCOL } from '../../../src/domain/listener/listener.js';
import type { ApiClient } from '../api-client.js';
import { until } from '../until.js';

/** A program connected to a listener, which answers as a test says. */
export interface TestListener {
  deliveries: DeliveryMessage[];
  socket: WebSocket;
  /** The code with which the stream was closed, once it is. */
  closed: Promise<number>;
  waitFor(count: number): Promise<DeliveryMessage[]>;
}

/**
 * Gets a ticket and opens the stream.
 *
 * @param at the API; default: that of the client
 * @throws Error with the status if it is refused
 */
export async function connectListener(
  client: ApiClient,
  endpointId: string,
  answer: (delivery: DeliveryMessage) => object | undefined = ok,
  at = client.url,
): Promise<TestListener> {
  const { json } = await client.request('POST', `/v18.0/listeners/${endpointId}/tickets`);
  const socket = openStream(at, endpointId, json.ticket);
  const deliveries: DeliveryMessage[] = [];
  socket.on('message', (data) => {
    const delivery = JSON.parse(String(data)) as DeliveryMessage;
    deliveries.push(delivery);
    const reply = answer(delivery);
    if (reply) socket.send(JSON.stringify({ number: delivery.number, ...reply }));
  });
  await once(socket, 'open');
  return {
    deliveries,
    socket,
    closed: once(socket, 'close').then(([code]) => code as number),
    waitFor: (count) =>
      until(
        () => deliveries,
        (all) => all.length >= count,
      ),
  };
}

export function openStream(url: string, endpointId: string, ticket: string): WebSocket {
  return new WebSocket(
    `${url.replace(/^http/, 'ws')}/v18.0/listeners/${endpointId}/stream`,
    STREAM_PROTOCOL,
    {
      headers: { authorization: `Bearer ${ticket}` },
    },
  );
}

export const ok = () => ({ type: 'response', status_code: 200, headers: {}, body: '' });
