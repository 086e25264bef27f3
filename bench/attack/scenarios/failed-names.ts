import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { purchase } from '../../support/load.js';
import { until } from '../../support/until.js';
import type { Probe } from '../attack.js';
import { startNames } from './names.js';

const SILENT_NAMES = 300;
/** Events for them before the victim's, so that each has failed; and while it waits. */
const EVENTS = 3;
const BETWEEN_EVENTS_MS = 6_000;
/** A failure is kept for five seconds, and ten, and a retry comes a second later; milliseconds. */
const ARRIVES_WITHIN_MS = 20_000;
const LIMIT_MS = 120_000;

let server: Socket | undefined;
let isVictimSilent = true;

/** Time that a name which failed once waits beside those of another account. */
export const failedNames: Probe = {
  name: 'failed-names',
  about: `a name that failed once waits for none of ${SILENT_NAMES} silent ones of another account`,
  async environment() {
    isVictimSilent = true;
    server = await startNames(0, '127.0.0.1', () => !isVictimSilent);
    return {
      HOOKLINE_DNS_SERVERS: `127.0.0.1:${server.address().port}`,
      HOOKLINE_RETRY_SCHEDULE: Array.from({ length: 50 }, () => '1s').join(','),
      HOOKLINE_MAX_ENDPOINTS: String(SILENT_NAMES),
    };
  },
  async run({ account, system }) {
    let arrived = 0;
    const receiver = createServer((request, response) => {
      arrived = performance.now();
      request.resume().once('end', () => response.writeHead(200, { connection: 'close' }).end());
    });
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    try {
      const [hostile, victim] = [await account(), await account()];
      const register = (to: typeof hostile, target_url: string) =>
        to.request('POST', '/v18.0/endpoints', { target_url, event_kinds: ['purchase'] });
      for (let at = 0; at < SILENT_NAMES; at += 1) await register(hostile, `http://n${at}.dead.test/`);
      await register(victim, `http://victim.alive.test:${(receiver.address() as AddressInfo).port}/`);
      const attack = () => hostile.request('POST', '/v18.0/events/purchase', purchase('dead'));
      for (let count = 0; count < EVENTS; count += 1) {
        await attack();
        if (count === EVENTS - 1) await victim.request('POST', '/v18.0/events/purchase', purchase('late'));
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_EVENTS_MS));
      }
      isVictimSilent = false;
      const back = performance.now();
      const before = await system.usage();
      const again = setInterval(() => void attack(), BETWEEN_EVENTS_MS);
      await until(() => arrived > 0, LIMIT_MS)
        .catch(() => {})
        .finally(() => clearInterval(again));
      const took = (arrived || performance.now()) - back;
      const after = await system.usage();
      const seconds = (ms: number) => (ms / 1_000).toFixed(1);
      const text = `${arrived ? 'arrived' : 'had not arrived'} after ${seconds(took)} s; ${seconds(after.cpuMs - before.cpuMs)} s of processor time, ${Math.round(after.residentBytes / 1e6)} MB`;
      return arrived && took <= ARRIVES_WITHIN_MS ? text : `FAILED: ${text}`;
    } finally {
      receiver.close();
      receiver.closeAllConnections();
    }
  },
  async clean() {
    server?.close();
    server = undefined;
  },
};
