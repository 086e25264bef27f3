import { setTimeout as delay } from 'node:timers/promises';
import type { Disruption } from '../check/collected.js';
import type { FaultName } from '../plan/kinds.js';
import type { PlannedFault } from '../plan/plan.js';
import type { Link, LinkState } from '../world/link.js';
import type { Manner } from '../world/receivers.js';
import type { World } from '../world/world.js';
import { fillDisk, freezeServer, restartServer } from './servers.js';

/** How late packets are on a slow network, milliseconds. */
const SLOW_MS = 250;

/** How far a clock is set: further than receivers let the time of a request be off. Seconds. */
const STEP_S = [6 * 60, 15 * 60] as const;

/** Makes a fault, has it last as long as planned, and undoes it. */
type Strike = (world: World, forMs: number, pick: number) => Promise<void>;

const node =
  (act: (one: World['nodes'][number], forMs: number) => Promise<void>): Strike =>
  async ({ nodes }, forMs, pick) => {
    const one = picked(nodes, pick);
    if (one) await act(one, forMs);
  };

/** A process begins with a clock that is ahead or behind; later, while it works, its clock is set right. */
const clock =
  (way: 1 | -1): Strike =>
  async ({ nodes, clocks }, forMs, pick) => {
    const [one, its] = [picked(nodes, pick), picked(clocks, pick)];
    if (!one || !its) return;
    const [least, most] = STEP_S;
    await one.stop();
    await its.shift(way * Math.round(least + (most - least) * ((pick * 7) % 1)));
    one.start(its.environment);
    await one.ready();
    await delay(forMs);
    await its.shift(0);
  };

const link =
  (of: 'temporal' | 'mongodb' | 'api', state: LinkState): Strike =>
  ({ links }, forMs, pick) =>
    breakLink(picked(links[of], pick), state, forMs);

const receiver =
  (manner: Manner): Strike =>
  async (world, forMs, pick) => {
    const path = picked(pathsOf(world), pick) ?? '';
    world.receivers.behave(path, manner);
    await delay(forMs);
    world.receivers.behave(path, 'well');
  };

const toReceiver =
  (state: LinkState): Strike =>
  (world, forMs, pick) =>
    breakLink(world.toReceivers.get(picked(pathsOf(world), pick) ?? ''), state, forMs);

const STRIKES: Record<FaultName, Strike> = {
  'node-killed': node(async (one, forMs) => {
    await one.signal('SIGKILL');
    await delay(forMs);
    one.start();
    await one.ready();
  }),
  'node-frozen': node(async (one, forMs) => {
    await one.signal('SIGSTOP');
    await delay(forMs);
    await one.signal('SIGCONT');
  }),
  'node-restarted': node(async (one, forMs) => {
    await one.stop();
    await delay(forMs / 2);
    one.start();
    await one.ready();
  }),
  'node-clock-ahead': clock(1),
  'node-clock-behind': clock(-1),
  async 'nodes-rolled'({ nodes }) {
    for (const one of nodes) {
      await one.stop();
      one.start();
      await one.ready();
    }
  },
  async 'nodes-killed'({ nodes }, forMs) {
    await Promise.all(nodes.map((one) => one.signal('SIGKILL')));
    await delay(forMs);
    for (const one of nodes) one.start();
    await Promise.all(nodes.map((one) => one.ready()));
  },
  'temporal-killed': (world, forMs) => restartServer(world, 'Temporal', 'SIGKILL', forMs),
  'temporal-frozen': (world, forMs) => freezeServer(world, 'Temporal', forMs),
  'temporal-restarted': (world, forMs) => restartServer(world, 'Temporal', 'SIGTERM', forMs / 4),
  'mongodb-killed': (world, forMs) => restartServer(world, 'MongoDB', 'SIGKILL', forMs),
  'mongodb-frozen': (world, forMs) => freezeServer(world, 'MongoDB', forMs),
  'mongodb-restarted': (world, forMs) => restartServer(world, 'MongoDB', 'SIGTERM', forMs / 4),
  'temporal-cut': link('temporal', { kind: 'cut' }),
  'temporal-slow': link('temporal', { kind: 'slow', byMs: SLOW_MS }),
  'temporal-unanswered': link('temporal', { kind: 'unanswered' }),
  'mongodb-cut': link('mongodb', { kind: 'cut' }),
  'mongodb-slow': link('mongodb', { kind: 'slow', byMs: SLOW_MS }),
  'mongodb-unanswered': link('mongodb', { kind: 'unanswered' }),
  'api-cut': link('api', { kind: 'cut' }),
  'api-unanswered': link('api', { kind: 'unanswered' }),
  'receiver-cut': toReceiver({ kind: 'cut' }),
  'receiver-slow': toReceiver({ kind: 'slow', byMs: SLOW_MS }),
  'receiver-hangs': receiver('hangs'),
  'receiver-resets': receiver('resets'),
  'receiver-flaps': receiver('flaps'),
  'receiver-500': receiver('500'),
  'receiver-410': receiver('410'),
  'receiver-429': receiver('429'),
  'receiver-503': receiver('503'),
  'receiver-garbage': receiver('garbage'),
  'disk-full-temporal': (world, forMs) => fillDisk(world, 'Temporal', forMs),
  'disk-full-mongodb': (world, forMs) => fillDisk(world, 'MongoDB', forMs),
};

/** Makes a fault of the plan from its beginning to its end. @returns when it was */
export async function strike(world: World, { name, forMs, pick }: PlannedFault): Promise<Disruption> {
  const fromMs = Date.now();
  await STRIKES[name](world, forMs, pick);
  return { name, fromMs, toMs: Date.now() };
}

async function breakLink(broken: Link | undefined, state: LinkState, forMs: number): Promise<void> {
  broken?.set(state);
  await delay(forMs);
  broken?.set({ kind: 'well' });
}

function pathsOf({ endpoints }: World): string[] {
  return endpoints.map(({ path }) => path);
}

function picked<T>(all: readonly T[], pick: number): T | undefined {
  return all[Math.floor(pick * all.length)];
}
