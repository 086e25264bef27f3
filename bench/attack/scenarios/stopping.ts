import { setTimeout as delay } from 'node:timers/promises';
import { stopLimits } from '../../../src/bin/service/stops.js';
import { loadSettings } from '../../../src/config/load.js';
import { ALL_SILENT, connectSilently } from '../../../test/support/outside/silent-clients.js';
import { saturate } from '../../support/load.js';
import { startReceiver } from '../../support/receiver.js';
import { restartBenchSystem } from '../../support/system.js';
import { until } from '../../support/until.js';
import type { Probe } from '../attack.js';

const CLIENTS = 20;
const EVENTS = 20;
/** How long the receiver takes, milliseconds: attempts are under way when the service is told to stop. */
const RESPONSE_MS = 2_000;
/** How long a service is waited for that does not stop, milliseconds. */
const WAITED_MS = 60_000;

export const silentClients: Probe = {
  name: 'silent-clients',
  about: `a service that is told to stop beside ${CLIENTS} silent clients ends in time, and repeats no attempt`,
  async run({ system }) {
    const receiver = await startReceiver(undefined, RESPONSE_MS);
    const account = await system.newAccount();
    await account.register(receiver.url);
    const kinds = Array.from(
      { length: CLIENTS },
      (_, at) => ALL_SILENT[at % ALL_SILENT.length] ?? 'no request',
    );
    const sockets = await connectSilently(account, kinds);
    await saturate(account, EVENTS, EVENTS);
    await until(() => receiver.count === EVENTS, WAITED_MS);

    const began = performance.now();
    const hasEnded = await Promise.race([system.stop().then(() => true), delay(WAITED_MS, false)]);
    const tookMs = performance.now() - began;
    if (!hasEnded) await system.kill();
    const next = await restartBenchSystem(system);
    await until(() => receiver.accepted.size === EVENTS, WAITED_MS);
    // An attempt whose report was lost would be repeated now.
    await delay(2 * RESPONSE_MS);
    await next.kill();
    for (const socket of sockets) socket.destroy();
    await receiver.close();

    const { allMs } = stopLimits(loadSettings(system.environment).HOOKLINE_ATTEMPT_TIMEOUT);
    const repeated = receiver.count - EVENTS;
    const text = `${hasEnded ? 'ended' : 'NOT ended'} after ${(tookMs / 1_000).toFixed(1)} s of ${allMs / 1_000}, ${repeated} repeated`;
    return hasEnded && tookMs <= allMs && repeated === 0 ? text : `FAILED: ${text}`;
  },
};
