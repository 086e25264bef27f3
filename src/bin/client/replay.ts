import { setTimeout as delay } from 'node:timers/promises';
import type { Hookline, Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { filterOf } from './deliveries.js';
import { deliveryCount, note, plain, print, printJson, status } from './terminal.js';
import { periodOf, textOf } from './values.js';

const POLL_MS = 500;
const BAR_WIDTH = 30;

/** Sends many deliveries again, and shows how far it is; or shows one that was begun before. */
export async function replay(values: Values, [id]: string[]): Promise<void> {
  const hookline = await client();
  const started = id === undefined ? await start(hookline, values) : { id };
  if (!('id' in started)) return showPreview(started, values);
  if (values['detach'] === true) {
    if (values['json'] === true) printJson(started);
    else print(plain(`${started.id}  It goes on by itself. See it with: hookline replay ${started.id}`));
    return;
  }
  await follow(hookline, started.id, values['json'] === true);
}

async function start(
  hookline: Hookline,
  values: Values,
): Promise<Schemas['Replay'] | Schemas['ReplayPreview']> {
  const filter = { ...filterOf(values), ...periodOf(values) };
  if (Object.values(filter).every((value) => value === undefined))
    throw new CommandError(
      'Say what to send again: --endpoint ep_…, --since 2h, --status exhausted, --kind purchase, …',
    );
  return hookline.post('/v18.0/replays', {
    body: {
      filter,
      // The server says what is wrong with a value that it does not know.
      action: textOf(values, 'action') as Schemas['Replay']['action'] | undefined,
      mode: textOf(values, 'mode') as 'failed' | undefined,
      rate: values['rate'] === undefined ? undefined : Number(values['rate']),
      reason: textOf(values, 'reason'),
      dry_run: values['dry-run'] === true || undefined,
    },
  });
}

function showPreview(preview: Schemas['ReplayPreview'], { json }: Values): void {
  if (json === true) {
    printJson(preview);
    return;
  }
  const { found, skipped, complete, sample, up_to } = preview;
  const gone = skipped === 0 ? '' : `, ${skipped} of them to endpoints that were deleted`;
  print(`${complete ? '' : 'At least '}${deliveryCount(found)}${gone}`);
  if (!complete) print(`Counting took too long; it came up to ${plain(up_to)}.`);
  for (const one of sample) print(`  ${plain(one)}`);
  note('Nothing was sent. Leave --dry-run out to send them.');
}

async function follow(hookline: Hookline, id: string, json: boolean): Promise<void> {
  const isLive = process.stderr.isTTY === true && !json;
  for (;;) {
    const now = await hookline.get('/v18.0/replays/{id}', { params: { path: { id } } });
    if (isLive) process.stderr.write(`\r\u001b[2K${bar(now)}`);
    if (now.closed_at !== undefined || now.state === 'paused') {
      if (isLive) process.stderr.write('\r\u001b[2K');
      if (json) printJson(now);
      else show(now);
      if (now.failed) process.exitCode = 1;
      return;
    }
    await delay(POLL_MS);
  }
}

/** How much of what was found is done. The number of deliveries still to be found is unknown. */
function bar({ found, done = 0, skipped = 0, failed = 0, rate }: Schemas['Replay']): string {
  if (found === undefined) return 'Its progress is not known while Temporal is unavailable';
  const over = done + skipped + failed;
  const filled = found === 0 ? 0 : Math.round((BAR_WIDTH * over) / found);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}  ${over} of ${found} found so far, ${rate}/s`;
}

function show({ id, state, done, skipped, failed, failures = [] }: Schemas['Replay']): void {
  print(`${status(state ?? '')}  ${plain(id)}  ${done} done, ${skipped} skipped, ${failed} failed`);
  for (const failure of failures) print(`  ${plain(failure.id)}  ${plain(failure.detail)}`);
}
