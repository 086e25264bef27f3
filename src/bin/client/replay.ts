import { setTimeout as delay } from 'node:timers/promises';
import type { Hookline, Schemas } from '../../../clients/typescript/src/index.js';
import { parseDuration } from '../../domain/basics/duration.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { filterOf } from './deliveries.js';
import { note, plain, print, printJson, status } from './terminal.js';

const POLL_MS = 500;
const BAR_WIDTH = 30;

/** Sends many deliveries again, and shows how far it is; or shows one that was begun before. */
export async function replay(values: Values, [id]: string[]): Promise<void> {
  const hookline = await client();
  const started = id === undefined ? await start(hookline, values) : { id };
  if (!('id' in started)) return showPreview(started, values);
  if (values['detach'] === true) {
    if (values['json'] === true) printJson(started);
    else print(`${started.id}  It goes on by itself. See it with: hookline replay ${started.id}`);
    return;
  }
  await follow(hookline, started.id, values['json'] === true);
}

async function start(
  hookline: Hookline,
  values: Values,
): Promise<Schemas['Replay'] | Schemas['ReplayPreview']> {
  const { since, until, mode, rate, reason, action } = values;
  const filter = {
    ...filterOf(values),
    ...(since !== undefined && { created_after: timeOf('since', String(since)) }),
    ...(until !== undefined && { created_before: timeOf('until', String(until)) }),
  };
  if (Object.keys(filter).length === 0)
    throw new CommandError(
      'Say what to send again: --endpoint ep_…, --since 2h, --status exhausted, --kind purchase, …',
    );
  return hookline.post('/v18.0/replays', {
    body: {
      filter,
      // The server says what is wrong with a value that it does not know.
      ...(action !== undefined && { action: String(action) as Schemas['Replay']['action'] }),
      ...(mode !== undefined && { mode: String(mode) as 'failed' }),
      ...(rate !== undefined && { rate: Number(rate) }),
      ...(reason !== undefined && { reason: String(reason) }),
      ...(values['dry-run'] === true && { dry_run: true }),
    },
  });
}

/** `2h` ago, or the time itself. @throws CommandError if it is neither */
export function timeOf(option: string, text: string): string {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return new Date(Date.now() - parseDuration(text)).toISOString();
  if (/^\d{4}-/.test(text)) return text;
  throw new CommandError(
    `--${option} must be a time before now, such as 2h, or a time such as 2026-01-31T12:00:00Z.`,
  );
}

function showPreview(preview: Schemas['ReplayPreview'], { json }: Values): void {
  if (json === true) {
    printJson(preview);
    return;
  }
  const { found, skipped, complete, sample, up_to } = preview;
  const gone = skipped === 0 ? '' : `, ${skipped} of them to endpoints that were deleted`;
  print(`${complete ? '' : 'At least '}${found === 1 ? '1 delivery' : `${found} deliveries`}${gone}`);
  if (!complete) print(`Counting took too long; it came up to ${up_to}.`);
  for (const one of sample) print(`  ${one}`);
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
      if (now.failed > 0) process.exitCode = 1;
      return;
    }
    await delay(POLL_MS);
  }
}

/** How much of what was found is done. What is still to be found is not known. */
function bar({ found, done, skipped, failed, rate }: Schemas['Replay']): string {
  const over = done + skipped + failed;
  const filled = found === 0 ? 0 : Math.round((BAR_WIDTH * over) / found);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}  ${over} of ${found} found so far, ${rate}/s`;
}

function show({ id, state, done, skipped, failed, failures = [] }: Schemas['Replay']): void {
  print(`${status(state)}  ${id}  ${done} done, ${skipped} skipped, ${failed} failed`);
  for (const failure of failures) print(`  ${failure.id}  ${plain(failure.detail)}`);
}
