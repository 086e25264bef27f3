import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import {
  type Hookline,
  HooklineError,
  type PostEventOptions,
} from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { deliveryCount, note, plain, print, printJson, style } from '../terminal.js';
import { textOf } from '../values.js';
import { exampleOf, type JsonSchema } from './example.js';
import { setValue } from './set.js';
import { timeoutOf, waitForEnds } from './wait.js';

/** Posts an event of a kind, by default its example, and shows its id; with `--wait` also how its deliveries end. */
export async function trigger(values: Values, [kind]: string[]): Promise<void> {
  if (!kind) throw new CommandError('Name the kind of event: hookline trigger purchase');
  // Before the event is sent: what was mistyped sends nothing.
  const timeout = values['wait'] === true ? timeoutOf(values) : undefined;
  const hookline = await client();
  const payload = await payloadOf(hookline, kind, values);
  const at = textOf(values, 'deliver-at');
  if (at !== undefined) return schedule(hookline, kind, payload, at, values);
  const event = await post(hookline, kind, payload, {
    idempotencyKey: textOf(values, 'idempotency-key'),
    orderKey: textOf(values, 'order-key'),
    endpoints: textOf(values, 'endpoints')?.split(','),
  });
  if (values['json'] === true) printJson(event);
  else {
    print(`${plain(event.id)}  ${plain(event.kind)}  ${deliveryCount(event.delivery_count)}`);
    if (event.delivery_count === 0) note(style('dim', 'No endpoint is registered for this kind.'));
  }
  if (timeout) await waitForEnds(hookline, event, timeout, values);
}

/**
 * As given by `--data`: a file, `-` for standard input, or the JSON itself; otherwise the kind's example. Then what
 * `--set` changes.
 */
async function payloadOf(hookline: Hookline, kind: string, { data, set }: Values): Promise<string> {
  const given = data === undefined ? undefined : await read(String(data));
  const changes = [set ?? []].flat().map(String);
  if (given !== undefined && changes.length === 0) return given;
  const schema = await schemaOf(hookline, kind);
  const payload = given === undefined ? exampleOf(schema) : parse(given);
  return JSON.stringify(changes.reduce((all, change) => setValue(all, change, schema), payload));
}

async function read(data: string): Promise<string> {
  if (data === '-') return readAll(process.stdin);
  if (/^\s*[[{"]/.test(data)) return data;
  return readFile(data, 'utf8').catch((error: Error) => {
    throw new CommandError(`The payload cannot be read: ${error.message}`);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`The payload is not JSON: ${(error as Error).message}`);
  }
}

async function schemaOf(hookline: Hookline, kind: string): Promise<JsonSchema> {
  try {
    return (await hookline.get('/v18.0/event_kinds/{name}', { params: { path: { name: kind } } })).schema;
  } catch (error) {
    if (!(error instanceof HooklineError) || error.status !== 404) throw error;
    const names: string[] = [];
    for await (const { name } of hookline.list('/v18.0/event_kinds')) names.push(name);
    throw new CommandError(`There is no event kind "${kind}". There are: ${names.join(', ')}.`);
  }
}

async function schedule(hookline: Hookline, kind: string, payload: string, at: string, { json }: Values) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime()))
    throw new CommandError(`--deliver-at "${at}" is no time: 2026-12-24T18:00:00Z`);
  const event = await hookline.scheduleEvent(kind, payload, time);
  if (json === true) printJson(event);
  else print(`${plain(event.id)}  ${plain(event.kind)}  scheduled for ${plain(event.deliver_at)}`);
}

async function post(hookline: Hookline, kind: string, payload: string, options: PostEventOptions) {
  try {
    return await hookline.postEvent(kind, payload, options);
  } catch (error) {
    if (!(error instanceof HooklineError) || error.code !== 'invalid_payload') throw error;
    const faults = error.errors.map(({ pointer, detail }) => `  ${pointer || '/'} ${detail}`);
    throw new CommandError(
      'The payload is not valid for this kind:',
      ...faults,
      'Change it with --set name=value.',
    );
  }
}
