import { deepEqual, equal, ok as yes } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { ListenerStream } from '../../../src/api/listeners/stream.js';
import { MESSAGE_COST, StreamBudget } from '../../../src/domain/listener/stream-budget.js';
import { until } from '../../support/until.js';

describe('the budget of streams', () => {
  it('lets a burst pass, and then makes wait until what was too much is made up for', () => {
    const budget = new StreamBudget(1_000, 5_000);
    deepEqual([budget.spend(5_000, 0), budget.spend(500, 0)], [0, 500]);
    equal(budget.spend(0, 500), 0);
    equal(budget.spend(1_500, 1_500), 500);
    equal(budget.spend(0, 100_000), 0);
    equal(budget.spend(6_000, 100_000), 1_000, 'no more than the burst is saved up');
    equal(budget.spend(0, 0), 1_000, 'a clock that goes back gives nothing');
  });
});

describe('the stream of a listener', () => {
  let server: WebSocketServer;
  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  async function connect(budget: StreamBudget) {
    const program = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket, { socket: connection }] = await once(server, 'connection');
    const stream = new ListenerStream(socket, connection, budget);
    if (program.readyState !== program.OPEN) await once(program, 'open');
    return { program, socket: socket as WebSocket, stream };
  }

  it('answers pings and reads on within the budget, and beyond it neither', async () => {
    const { program, socket } = await connect(new StreamBudget(1, 10 * MESSAGE_COST));
    let pongs = 0;
    program.on('pong', () => {
      pongs += 1;
    });
    for (let sent = 0; sent < 1_000; sent += 1) program.ping();
    await until(
      () => socket.isPaused,
      (isPaused) => isPaused,
    );
    // What was read already is over by now; the close frame comes behind all pongs.
    socket.close();
    await until(
      () => program.readyState,
      (state) => state !== program.OPEN,
    );
    yes(pongs > 0 && pongs <= 10, `${pongs}`);
  });

  it('goes on when the budget allows it again, and loses nothing', async () => {
    const { program, socket, stream } = await connect(
      new StreamBudget(200 * MESSAGE_COST, 20 * MESSAGE_COST),
    );
    let pauses = 0;
    const pause = socket.pause.bind(socket);
    socket.pause = () => {
      pauses += 1;
      pause();
    };
    program.on('message', (data) => {
      const { number } = JSON.parse(String(data)) as { number: number };
      program.send(JSON.stringify({ type: 'response', number, status_code: 200, headers: {}, body: '' }));
    });
    const request = { headers: {}, body: '{}', timeout_ms: 30_000 };
    const results = await Promise.all(Array.from({ length: 200 }, () => stream.exchange(request)));
    yes(results.every((result) => 'status_code' in result && result.status_code === 200));
    yes(pauses > 0);
  });
});
