import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase } from '../../src/models/database.js';
import type { Row } from './check/collected.js';
import type { Reader } from './check/reader.js';
import { type ActContext, askSomeNode } from './faults/acts.js';
import { describeOpen } from './open-executions.js';
import type { ChaosAccount, World } from './world/world.js';

/**
 * How long each of these may take to come to rest, milliseconds: it says that something is stuck, not how fast it
 * should be.
 */
const LIMIT_MS = 300_000;
const ASK_EVERY_MS = 1_000;
const OPEN_REPLAYS = new Set(['running', 'paused']);

/**
 * Waits until nothing of something remains, and says what it waits for.
 *
 * @returns what was in vain, empty if nothing was
 */
async function wait(
  what: string,
  report: (line: string) => void,
  remaining: () => Promise<number>,
): Promise<string[]> {
  const deadline = performance.now() + LIMIT_MS;
  let last = -1;
  for (;;) {
    const left = await remaining().catch(() => Number.POSITIVE_INFINITY);
    if (left === 0) return [];
    if (left !== last) report(`${what}: ${Number.isFinite(left) ? left : 'cannot be asked'}`);
    last = left;
    if (performance.now() > deadline) {
      report(`${what}: given up`);
      return [`${what}: ${left}`];
    }
    await delay(ASK_EVERY_MS);
  }
}

/**
 * After the last fault: has all endpoints take deliveries, and waits until all events have their 202, nothing is open,
 * acts have ended and everything is in the records.
 *
 * @returns what was waited for in vain
 */
export async function settle(
  context: ActContext,
  reader: Reader,
  report: (line: string) => void,
): Promise<string[]> {
  const { world, producers, temporal } = context;
  const inVain: string[] = [];
  const none = async (what: string, remaining: () => Promise<number>) => {
    const left = await wait(what, report, remaining);
    inVain.push(...left);
    return left.length === 0;
  };
  producers.stop();
  await none('processes that are not ready', async () => {
    const ready = await Promise.all(world.nodes.map((node) => node.isReady()));
    return ready.filter((isReady) => !isReady).length;
  });
  await none('events without a 202', async () => producers.waiting);
  await producers.end();
  await none('scheduled events that are not sent', () => readScheduled(context, reader));
  await none('accounts that are half deleted', () => deleteAgain(context));
  const lasting = world.accounts.filter(({ id }) => !isDeleted(context, id));
  await none('endpoints that take nothing', () => resumeAll(world, lasting));
  await none('deliveries that are paused', () => resumeDeliveries(context));
  await none('replays and erasures', () => sum(lasting.map(({ id }) => openActs(reader, id))));
  if (
    !(await none('open deliveries', () => sum(world.accounts.map(({ id }) => openDeliveries(reader, id)))))
  ) {
    const open = await Promise.all(world.accounts.map(({ id }) => openRows(reader, id)));
    inVain.push(...(await describeOpen(temporal, open.flat())));
  }
  const database = await connectDatabase(world.settings.MONGODB_URI ?? '');
  try {
    await none('segments that the log has not taken', () => database.segments.waiting());
  } finally {
    await database.close();
  }
  return inVain;
}

async function sum(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
}

async function openDeliveries(reader: Reader, account: string): Promise<number> {
  const { json } = await reader.get(account, '/v18.0/stats');
  return Math.max(Number(json.open.deliveries), (await openRows(reader, account)).length);
}

const openRows = (reader: Reader, account: string) => reader.all<Row>(account, '/v18.0/deliveries?open=true');

/** Reads which events scheduled ones have become. @returns how many are none yet */
async function readScheduled({ producers, done }: ActContext, reader: Reader): Promise<number> {
  const deleted = new Set(done.filter(({ name }) => name === 'delete-account').map((one) => one.accountId));
  const open = producers.posted.filter(
    ({ scheduled, eventIds, isGivenUp }) => scheduled && eventIds.length === 0 && !isGivenUp,
  );
  return sum(
    open.map(async (event): Promise<number> => {
      if (deleted.has(event.accountId)) event.isGivenUp = true;
      if (event.isGivenUp) return 0;
      const { status, json } = await reader.get(
        event.accountId,
        `/v18.0/scheduled_events/${event.scheduled?.id}`,
      );
      // It has gone with its subject.
      if (status === 404 || json?.status === 'cancelled') event.isGivenUp = true;
      else if (json?.event_id === undefined) return 1;
      else event.eventIds.push(json.event_id);
      return 0;
    }),
  );
}

function isDeleted({ done }: ActContext, accountId: string): boolean {
  return done.some(({ name, accountId: of }) => name === 'delete-account' && of === accountId);
}

/** A deletion that was not answered is asked for again. @returns how many are not known to be under way */
async function deleteAgain({ world, done }: ActContext): Promise<number> {
  const asked = done.filter(({ name }) => name === 'delete-account');
  for (const act of asked) {
    if (act.status >= 200 && act.status < 300) continue;
    const { status } = await askSomeNode(world, undefined, 'DELETE', `/v18.0/accounts/${act.accountId}`);
    // It was done already, or is now.
    if (status === 404 || status === 409) act.status = 204;
    else act.status = status;
  }
  return asked.filter(({ status }) => status < 200 || status >= 300).length;
}

/** @returns how many were not active */
async function resumeAll(world: World, accounts: readonly ChaosAccount[]): Promise<number> {
  let idle = 0;
  for (const { id: account, endpointIds } of accounts) {
    for (const id of endpointIds) {
      const { json } = await askSomeNode(world, account, 'GET', `/v18.0/endpoints/${id}`);
      if (json?.status === 'active') continue;
      idle += 1;
      await askSomeNode(world, account, 'POST', `/v18.0/endpoints/${id}/resume`);
    }
  }
  return idle;
}

/** @returns how many were still paused, or could not be asked */
async function resumeDeliveries({ world, paused }: ActContext): Promise<number> {
  for (const [id, account] of paused) {
    const { status } = await askSomeNode(world, account, 'POST', `/v18.0/deliveries/${id}/resume`);
    // Done, or it is not paused.
    if (status === 200 || status === 202 || status === 409 || status === 404) paused.delete(id);
  }
  return paused.size;
}

async function openActs(reader: Reader, account: string): Promise<number> {
  const replays = await reader.all<{ state: string }>(account, '/v18.0/replays');
  const erasures = await reader.all<{ status: string }>(account, '/v18.0/erasures');
  return (
    replays.filter(({ state }) => OPEN_REPLAYS.has(state)).length +
    erasures.filter(({ status }) => status !== 'complete').length
  );
}
