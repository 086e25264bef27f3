import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { WebSocket, WebSocketServer } from 'ws';
import { ListenerStreams } from '../../../src/api/listeners/streams.js';
import { scaledTimings } from '../../../src/domain/timings.js';
import type { EndpointRepository } from '../../../src/models/endpoint/endpoints.js';
import type { ListenerRepository } from '../../../src/models/endpoint/listeners.js';
import { until } from '../../support/until.js';

const KEY = {
  id: 'ticket-1',
  account_id: 'acct_1',
  endpoint_id: 'ep_1',
  credential: { type: 'portal_session', token_hash: '' },
} as const;
const REQUEST = { headers: {}, body: '{}', timeout_ms: 5_000 };

describe('the streams of listeners', () => {
  let server: WebSocketServer;
  let streams: ListenerStreams;
  /** State of the database, and what it was told. */
  let exists: boolean;
  let isHeld: boolean;
  let isAllowed: boolean;
  let told: string[];

  beforeEach(async () => {
    [exists, isHeld, isAllowed, told] = [true, true, true, []];
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const listeners = {
      claim: async () => void told.push('claim'),
      renew: async () => told.push('renew') > 0 && isHeld,
      leave: async () => void told.push('leave'),
      remove: async () => void told.push('remove'),
    } as unknown as ListenerRepository;
    const endpoints = { getFresh: async () => (exists ? {} : undefined) } as unknown as EndpointRepository;
    const release = async () => void told.push('release');
    const logger = pino({ level: 'silent' });
    const allows = async () => isAllowed;
    streams = new ListenerStreams({
      listeners,
      endpoints,
      allows,
      release,
      logger,
      timings: scaledTimings(0.001),
    });
  });
  afterEach(async () => {
    await streams.stop();
    for (const client of server.clients) client.terminate();
    server.close();
  });

  /** A program that is connected, and the code with which its stream is closed. */
  async function connect() {
    const program = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket, { socket: connection }] = await once(server, 'connection');
    await streams.open(KEY, socket, connection);
    if (program.readyState !== program.OPEN) await once(program, 'open');
    return { program, closed: once(program, 'close').then(([code]) => code as number) };
  }
  const saw = (what: string) =>
    until(
      () => told,
      (all) => all.includes(what),
    );

  it('are claimed, released and renewed, and left when the program has gone', async () => {
    const { program } = await connect();
    deepEqual(told.slice(0, 2), ['claim', 'release']);
    await saw('renew');
    program.terminate();
    await saw('leave');
    equal(streams.exchange('ep_1', REQUEST), undefined);
  });

  it('end when the endpoint is deleted, or another process has taken the listener', async () => {
    exists = false;
    equal(await (await connect()).closed, 4_404);
    await saw('remove');
    [exists, isHeld] = [true, false];
    equal(await (await connect()).closed, 4_409);
  });

  it('end with the token that opened them, and send nothing from then on', async () => {
    const { program, closed } = await connect();
    let messages = 0;
    program.on('message', () => {
      messages += 1;
    });
    isAllowed = false;
    const result = await streams.exchange('ep_1', REQUEST);
    equal(result && 'error_code' in result && result.error_code, 'listener_disconnected');
    equal(await closed, 4_401);
    equal(messages, 0);
    isAllowed = true;
    const quiet = await connect();
    isAllowed = false;
    equal(await quiet.closed, 4_401, 'without a delivery, with the next renewal');
  });

  it('end if a program answers what nobody waits for, and read no more of it', async () => {
    const failure = (number: number) => JSON.stringify({ type: 'failure', number, error_code: 'timeout' });
    const { program, closed } = await connect();
    for (let sent = 0; sent < 1_000; sent += 1) program.send(failure(9));
    equal(await closed, 4_400);
    const late = await connect();
    const result = await streams.exchange('ep_1', { ...REQUEST, timeout_ms: 20 });
    equal(result && 'error_code' in result && result.error_code, 'timeout');
    late.program.send(failure(0));
    const next = streams.exchange('ep_1', REQUEST);
    late.program.send(failure(1));
    equal((await next) && 'error_code', 'error_code', 'an answer that comes too late is no error, once');
    late.program.send(failure(0));
    equal(await late.closed, 4_400);
  });

  it('wait for the answers that are due before the process stops, and take no new ones', async () => {
    const { program, closed } = await connect();
    const [answered] = [streams.exchange('ep_1', REQUEST), await once(program, 'message')];
    const stopped = streams.stop();
    equal(streams.exchange('ep_1', REQUEST), undefined);
    program.send(JSON.stringify({ type: 'response', number: 0, status_code: 202, headers: {}, body: '' }));
    deepEqual(await answered, { status_code: 202, headers: {}, body: '' });
    equal(await closed, 1_012);
    await stopped;
  });

  it('fail what has no answer in time, or whose program goes before it answers', async () => {
    const { program } = await connect();
    const late = await streams.exchange('ep_1', { ...REQUEST, timeout_ms: 20 });
    equal(late && 'error_code' in late && late.error_code, 'timeout');
    const lost = streams.exchange('ep_1', REQUEST);
    program.terminate();
    const result = await lost;
    equal(result && 'error_code' in result && result.error_code, 'listener_disconnected');
  });
});
