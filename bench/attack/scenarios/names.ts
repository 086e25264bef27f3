import { execFileSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { purchase } from '../../support/load.js';
import type { Attack, Target } from '../attack.js';

const DEAD_ENDPOINTS = 50;
const BETWEEN_EVENTS_MS = 500;
/** A loopback address that nobody else has a name server at. */
const OWN_ADDRESS = '127.83.7.1';

let server: Socket | undefined;
let folder: string | undefined;

async function clean(): Promise<void> {
  server?.close();
  server = undefined;
  if (folder) await rm(folder, { recursive: true, force: true });
  folder = undefined;
}

async function prepare({ account }: Target) {
  const hostile = await account();
  await Promise.all(
    Array.from({ length: DEAD_ENDPOINTS }, (_, at) =>
      hostile.request('POST', '/v18.0/endpoints', {
        target_url: `http://n${at}.dead.test/`,
        event_kinds: ['purchase'],
      }),
    ),
  );
  return async (stop: AbortSignal) => {
    while (!stop.aborted) {
      await hostile.request('POST', '/v18.0/events/purchase', purchase('dead'));
      await delay(BETWEEN_EVENTS_MS);
    }
  };
}

const about = `events for ${DEAD_ENDPOINTS} endpoints whose name server never answers`;

export const namedServer: Attack = {
  name: 'silent-names',
  about: `${about}; HOOKLINE_DNS_SERVERS is set`,
  tenantHost: 'tenant.alive.test',
  async environment() {
    server = await startNames(0, '127.0.0.1');
    return { HOOKLINE_DNS_SERVERS: `127.0.0.1:${server.address().port}` };
  },
  prepare,
  clean,
};

export const systemServer: Attack = {
  name: 'silent-names-of-system',
  about: `${about}; as the operating system looks names up`,
  tenantHost: 'tenant.alive.test',
  async environment() {
    server = await startNames(53, OWN_ADDRESS);
    folder = await mkdtemp(join(tmpdir(), 'hookline-attack-'));
    await writeFile(join(folder, 'resolv.conf'), `nameserver ${OWN_ADDRESS}\n`);
    return {};
  },
  // In a mount namespace of its own the service has another /etc/resolv.conf than everybody else.
  wrapper: () => [
    ...['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"'],
    join(folder ?? '', 'resolv.conf'),
  ],
  isPossible: () => {
    try {
      execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
      return process.getuid?.() === 0;
    } catch {
      return false;
    }
  },
  prepare,
  clean,
};

/**
 * A name server (RFC 1035) that knows `*.alive.test` as 127.0.0.1, and answers no question about anything else.
 *
 * @param answers whether it does so now
 */
export async function startNames(port: number, address: string, answers = () => true): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', (query, sender) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    if (!answers() || !labels.join('.').toLowerCase().endsWith('alive.test')) return;
    const isA = query.readUInt16BE(at + 1) === 1;
    const head = Buffer.from(query.subarray(0, at + 5));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isA ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // A pointer to the name, type A, class IN, 5 seconds, four bytes.
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1]);
    socket.send(isA ? Buffer.concat([head, record]) : head, sender.port, sender.address);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return socket;
}
