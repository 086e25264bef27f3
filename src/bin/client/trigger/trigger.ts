import { type Hookline, HooklineError } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { showScheduled } from '../scheduled.js';
import { deliveryCount, note, plain, print, printJson, style } from '../terminal.js';
import { dateOf, parseGiven, readGiven, textOf } from '../values.js';
import { exampleOf, type JsonSchema } from './example.js';
import { setValue } from './set.js';
import { timeoutOf, waitForEnds } from './wait.js';

/** Posts an event of a kind, by default its example, and shows its id; with `--wait` also how its deliveries end. */
export async function trigger(values: Values, [kind]: string[]): Promise<void> {
  if (!kind) throw new CommandError('Name the kind of event: hookline trigger purchase');
  // Before the event is sent: what was mistyped sends nothing.
  const timeout = values['wait'] === true ? timeoutOf(values) : undefined;
  const at = dateOf(values, 'deliver-at');
  if (at && timeout) throw new CommandError('--wait and --deliver-at exclude each other.');
  const hookline = await client();
  const payload = await payloadOf(hookline, kind, values);
  const options = {
    idempotencyKey: textOf(values, 'idempotency-key'),
    orderKey: textOf(values, 'order-key'),
    endpoints: textOf(values, 'endpoints')?.split(','),
  };
  if (at) return showScheduled(await explained(hookline.scheduleEvent(kind, payload, at, options)), values);
  const event = await explained(hookline.postEvent(kind, payload, options));
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
  const given = data === undefined ? undefined : await readGiven(String(data));
  const changes = [set ?? []].flat().map(String);
  if (given !== undefined && changes.length === 0) return given;
  const schema = await schemaOf(hookline, kind);
  const payload = given === undefined ? exampleOf(schema) : parseGiven(given);
  return JSON.stringify(changes.reduce((all, change) => setValue(all, change, schema), payload));
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

/** The response to an event. @throws CommandError that says what is wrong with the payload, if something is */
async function explained<Response>(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
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
