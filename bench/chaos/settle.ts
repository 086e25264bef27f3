import { setTimeout as delay } from 'node:timers/promises';
import type { Posted } from './check/collected.js';
import type { Reader } from './check/reader.js';
import { type ActContext, askSomeNode, startArchive } from './faults/acts.js';
import type { ChaosAccount, World } from './world/world.js';

/** How long everything may take to come to rest, milliseconds: it says that something is stuck, not how fast it should be. */
const LIMIT_MS = 300_000;
const ASK_EVERY_MS = 1_000;
const OPEN_REPLAYS = new Set(['running', 'paused']);

/** Waits for a condition, and says what it waits for. @returns whether it came, in time */
async function wait(
  what: string,
  deadline: number,
  report: (line: string) => void,
  remaining: () => Promise<number>,
): Promise<boolean> {
  let last = -1;
  for (;;) {
    const left = await remaining().catch(() => Number.POSITIVE_INFINITY);
    if (left === 0) return true;
    if (left !== last) report(`${what}: ${Number.isFinite(left) ? left : 'cannot be asked'}`);
    last = left;
    if (performance.now() > deadline) {
      report(`${what}: given up`);
      return false;
    }
    await delay(ASK_EVERY_MS);
  }
}

/**
 * After the last fault: has all endpoints take deliveries, and waits until all events have their 202, nothing is open, acts have ended and
 * everything is in the archive. What is not so in time is for the checker to find.
 */
export async function settle(
  context: ActContext,
  reader: Reader,
  report: (line: string) => void,
): Promise<void> {
  const { world, producers, temporal, done } = context;
  const deadline = performance.now() + LIMIT_MS;
  producers.stop();
  await wait('processes that are not ready', deadline, report, async () => {
    const ready = await Promise.all(world.nodes.map((node) => node.isReady()));
    return ready.filter((isReady) => !isReady).length;
  });
  await wait('events without a 202', deadline, report, async () => producers.waiting);
  await producers.end();
  await wait('accounts that are half deleted', deadline, report, () => deleteAgain(context));
  const lasting = world.accounts.filter(({ id }) => !isDeleted(context, id));
  await wait('endpoints that take nothing', deadline, report, () => resumeAll(world, lasting));
  await wait('deliveries that are paused', deadline, report, () => resumeDeliveries(context));
  await wait('replays and erasures', deadline, report, async () => {
    const open = await Promise.all(lasting.map(({ id }) => openActs(reader, id)));
    return open.reduce((sum, count) => sum + count, 0);
  });
  const isOpen = async ({ id }: ChaosAccount) => {
    const { json } = await reader.get(id, '/v18.0/stats');
    const listed = await reader.all(id, '/v18.0/deliveries?open=true');
    return Math.max(Number(json.open.deliveries), listed.length);
  };
  await wait('open deliveries', deadline, report, async () => {
    const open = await Promise.all(world.accounts.map(isOpen));
    return open.reduce((sum, count) => sum + count, 0);
  });
  report(`asked for ${done.length} acts; archiving`);
  await wait('deliveries that are not in the archive', deadline, report, async () => {
    const run = await startArchive(world, temporal);
    await run.result();
    return missing(world, reader, producers.posted);
  });
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
    erasures.filter(({ status }) => status !== 'erased').length
  );
}

/** Deliveries of acknowledged events that are not in the export of their account, or not under a checkpoint. */
async function missing(world: World, reader: Reader, posted: readonly Posted[]): Promise<number> {
  let count = 0;
  for (const { id } of world.accounts) {
    const lines = await reader.exported(id);
    const exported = new Set(
      lines.flatMap((line) =>
        line['type'] === 'delivery' ? [String((line['delivery'] as { event_id: string }).event_id)] : [],
      ),
    );
    count += posted.filter(
      ({ accountId, eventIds }) => accountId === id && eventIds.some((eventId) => !exported.has(eventId)),
    ).length;
  }
  return count;
}
