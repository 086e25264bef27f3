import { setTimeout as delay } from 'node:timers/promises';
import { requireServers } from '../../src/bin/process/server-settings.js';
import { connectTemporal } from '../../src/temporal/server/connection.js';
import type { startServers } from '../support/system.js';
import { collectViews, verifyRecords } from './check/collect.js';
import type { Collected, Disruption, DoneAct } from './check/collected.js';
import { withCalm } from './check/finding.js';
import { Reader } from './check/reader.js';
import { type ActContext, perform } from './faults/acts.js';
import { strike } from './faults/strike.js';
import type { Plan } from './plan/plan.js';
import { settle } from './settle.js';
import { followFeeds } from './world/feed-follower.js';
import { watchLog } from './world/log-watcher.js';
import { startProducers } from './world/producers.js';
import { startWorld, type World } from './world/world.js';

/** The time before the first fault: everything is to work. Milliseconds. */
const CALM_MS = 2_000;

export interface RunOptions {
  plan: Plan;
  nodes: number;
  perSecond: number;
  /** Deliveries that are read by themselves although nothing happened to them. */
  sample: number;
  /** Takes a line of progress. */
  report(line: string): void;
  /** Starts the servers; absent: those of {@link startServers}. */
  startServers?: typeof startServers;
  /** Sees what is left at the end, before everything is stopped. */
  atEnd?(world: World): Promise<void>;
}

/**
 * Does what a plan says to a whole installation under load, waits until it has come to rest, and collects what all
 * views say.
 */
export async function run({
  plan,
  nodes,
  perSecond,
  sample,
  report,
  startServers: start,
  atEnd,
}: RunOptions): Promise<{ collected: Collected; ended: number }> {
  const began = performance.now();
  const say = (line: string) =>
    report(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  say('starting servers and processes');
  const world = await startWorld(nodes, () => {}, start);
  const temporal = await connectTemporal(requireServers(world.settings).temporal);
  try {
    const log = watchLog(world);
    const feeds = followFeeds(world);
    const producers = startProducers(world, plan.seed, perSecond);
    const done: DoneAct[] = [];
    const context: ActContext = { world, producers, temporal, done, paused: new Map() };
    await delay(CALM_MS);
    const disruptions = await makeFaults(context, plan, say);
    say('the last fault is over');
    const reader = new Reader(world);
    const unsettled = await settle(context, reader, say);
    await readSecrets(world, reader);
    const views = await collectViews(world, temporal, sample, say);
    const [logViews, recordDifferences] = [await log.end(), await verifyRecords(world)];
    const read = await feeds.end();
    // A request that comes this late repeats something that stood still; it is signed all the same.
    world.receivers.verify((path) => world.secrets.get(path) ?? []);
    say('checking');
    await atEnd?.(world);
    return {
      collected: {
        posted: producers.posted,
        received: world.receivers.received,
        endpoints: world.endpoints,
        feeds: read,
        disruptions: withCalm({ disruptions, posted: producers.posted }),
        acts: done,
        unsettled,
        ...views,
        log: logViews,
        recordDifferences,
      },
      ended: world.nodes.reduce((sum, node) => sum + node.ended, 0),
    };
  } finally {
    await temporal.close();
    await world.stop();
  }
}

/** Receivers learn the secret of a rotation whose answer was lost from their endpoint. */
async function readSecrets({ endpoints, secrets }: World, reader: Reader): Promise<void> {
  for (const { accountId, id, path } of endpoints) {
    const { json } = await reader.get(accountId, `/v18.0/endpoints/${id}/secret`);
    if (json?.secret) secrets.get(path)?.push(json.secret);
  }
}

async function makeFaults(
  context: ActContext,
  { rounds }: Plan,
  say: (line: string) => void,
): Promise<Disruption[]> {
  const disruptions: Disruption[] = [];
  for (const [number, { faults, acts, restMs }] of rounds.entries()) {
    const { producers } = context;
    const names = faults.map(({ name }) => name).join(', ');
    say(
      `round ${number + 1} of ${rounds.length}: ${names}; ${producers.posted.length} posted, ${producers.waiting} wait`,
    );
    await Promise.all([
      ...faults.map(async (fault) => {
        await delay(fault.afterMs);
        disruptions.push(await strike(context.world, fault));
      }),
      ...acts.map(async (act) => {
        await delay(act.afterMs);
        await perform(context, act);
      }),
    ]);
    await delay(restMs);
  }
  return disruptions;
}
