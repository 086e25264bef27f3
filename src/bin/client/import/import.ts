import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { ZodError } from 'zod';
import { type Hookline, HooklineError, type Schemas } from '../../../../clients/typescript/src/index.js';
import { ANY_KIND, EVENT_KIND_NAME, isFamily } from '../../../domain/event/event-kinds.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { note, plain, print, printJson, status, style } from '../terminal.js';
import { convoy } from './convoy.js';
import type { ForeignEndpoint, Format, LeftOut } from './found.js';
import { outpost } from './outpost.js';
import { svix } from './svix.js';

const FORMATS: Readonly<Record<string, Format>> = { svix, convoy, outpost };

/** Names where an endpoint was, so that a second import passes it over. */
const ORIGIN = 'imported_from';

/** Outcome for one endpoint of the list. */
type ImportOutcome = { id: string; notes?: string[] } & (
  | { outcome: 'made' | 'there_already' | 'would_be_made'; endpoint?: Schemas['Endpoint'] }
  | { outcome: 'left_out' | 'refused'; why: string }
);

/**
 * Registers the endpoints of a list that Svix, Convoy or Outpost has given, with their secrets. One that was imported
 * before is passed over, so that an import that was interrupted can be repeated.
 */
export async function importEndpoints(values: Values, [service = '', ...files]: string[]): Promise<void> {
  const format = FORMATS[service];
  if (!format || files.length === 0)
    throw new CommandError(
      `Say from where, and the files with the list: hookline import ${Object.keys(FORMATS).join('|')} endpoints.json`,
    );
  const list = renamed(read(format, await Promise.all(files.map(documentIn))), values);
  const hookline = await client();
  const isDry = values['dry-run'] === true;
  await requireKinds(hookline, list, values['create-kinds'] === true, isDry);
  const before = await importedBefore(hookline);
  const count = { made: 0, there_already: 0, left_out: 0, refused: 0, would_be_made: 0 };
  for (const one of list) {
    const outcome = await importOne(hookline, service, one, before, isDry);
    count[outcome.outcome] += 1;
    show(outcome, values);
  }
  if (values['json'] !== true) {
    const { made, there_already, left_out, refused, would_be_made } = count;
    const first = isDry ? `${would_be_made} would be made` : `${made} made`;
    print(`${first}, ${there_already} imported before, ${left_out} left out, ${refused} refused.`);
    for (const sentence of list.length > 0 ? format.about : []) note(sentence);
  }
  if (count.refused > 0) throw new CommandError('Mend what was refused, and import the same file again.');
}

async function importOne(
  hookline: Hookline,
  service: string,
  one: ForeignEndpoint | LeftOut,
  before: ReadonlyMap<string, Schemas['Endpoint']>,
  isDry: boolean,
): Promise<ImportOutcome> {
  const { id } = one;
  if ('why' in one) return { id, outcome: 'left_out', why: one.why };
  const origin = `${service}:${id}`;
  const known = before.get(origin);
  if (known) return { id, outcome: 'there_already', endpoint: known };
  const { body, notes } = one;
  if (isDry) return { id, outcome: 'would_be_made', notes };
  try {
    const endpoint = await hookline.post('/v18.0/endpoints', {
      body: { ...body, metadata: { ...body.metadata, [ORIGIN]: origin } },
    });
    return { id, outcome: 'made', endpoint: withoutSecret(endpoint), notes };
  } catch (error) {
    if (!(error instanceof HooklineError) || error.status !== 400) throw error;
    const faults = error.errors.map(
      ({ pointer, parameter, detail }) => `${pointer ?? parameter ?? ''} ${detail}`,
    );
    return { id, outcome: 'refused', why: [error.message, ...faults].join('; ') };
  }
}

/** A secret that the subscriber has is not shown again: output is kept in logs. */
function withoutSecret({ secret: _, ...endpoint }: Schemas['EndpointWithSecret']): Schemas['Endpoint'] {
  return endpoint;
}

function show(outcome: ImportOutcome, { json }: Values): void {
  if (json === true) {
    printJson(outcome);
    return;
  }
  const { id, outcome: what, notes = [] } = outcome;
  const { endpoint } = 'endpoint' in outcome ? outcome : {};
  const after = endpoint
    ? `${plain(endpoint.id)}  ${status(endpoint.status)}  ${plain(endpoint.target_url)}`
    : plain('why' in outcome ? outcome.why : '');
  print(`${plain(id)}  ${what.replaceAll('_', ' ')}  ${after}`.trimEnd());
  for (const sentence of notes) print(style('dim', `  ${plain(sentence)}`));
}

async function documentIn(file: string): Promise<unknown> {
  const text =
    file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) throw new CommandError(`There is no file "${file}".`);
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`"${file}" is not JSON; save what the API of the other service gives.`);
  }
}

/** @throws CommandError that says which field is not as that service's API has it */
function read(format: Format, documents: readonly unknown[]): (ForeignEndpoint | LeftOut)[] {
  try {
    return format.read(documents);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new CommandError(`A JSON text in the list is not valid: ${error.message}`);
    if (!(error instanceof ZodError)) throw error;
    const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
    throw new CommandError(
      `This is not a list of endpoints as the API of ${format.name} gives it.`,
      ...faults,
    );
  }
}

/** Event kinds by their names here: `--kind UserCreated=user.created`. */
function renamed(list: (ForeignEndpoint | LeftOut)[], { kind }: Values): (ForeignEndpoint | LeftOut)[] {
  const names = new Map(
    [kind ?? []].flat().map((text) => {
      const [there = '', here = ''] = String(text).split('=');
      if (!there || !here)
        throw new CommandError(`--kind must be a name there and one here, such as a-b=a.b.`);
      return [there, here];
    }),
  );
  return list.map((one) =>
    'why' in one
      ? one
      : {
          ...one,
          body: { ...one.body, event_kinds: one.body.event_kinds.map((name) => names.get(name) ?? name) },
        },
  );
}

/**
 * Checks that every event kind of the list exists, before anything is made.
 *
 * @param creates whether to make those that do not, with a schema that takes every object
 * @param isDry says only which it would make
 * @throws CommandError that names those that are missing, and what to do
 */
async function requireKinds(
  hookline: Hookline,
  list: (ForeignEndpoint | LeftOut)[],
  creates: boolean,
  isDry: boolean,
): Promise<void> {
  const wanted = new Set(list.flatMap((one) => ('why' in one ? [] : one.body.event_kinds)));
  const known = new Set<string>();
  for await (const { name } of hookline.list('/v18.0/event_kinds', { query: { limit: 100 } }))
    known.add(name);
  const missing = [...wanted].filter((name) => name !== ANY_KIND && !isFamily(name) && !known.has(name));
  const impossible = missing.filter((name) => !EVENT_KIND_NAME.test(name));
  if (impossible.length > 0)
    throw new CommandError(
      `Event kinds here have small letters, digits, _ and dots between words. Rename these, such as --kind UserCreated=user.created: ${impossible.join(', ')}`,
    );
  if (missing.length === 0) return;
  if (!creates)
    throw new CommandError(
      `These event kinds do not exist here yet: ${missing.join(', ')}.`,
      'Add them with their schemas (docs/events.md), or repeat this with --create-kinds, which adds them with a schema that takes every object.',
    );
  for (const name of missing) {
    const body = { name, description: 'Made by hookline import.', schema: { type: 'object' } };
    if (!isDry) await hookline.post('/v18.0/event_kinds', { body });
    note(`Event kind ${name}: ${isDry ? 'would be made' : 'made'}.`);
  }
}

/** The account's endpoints that an import has made, by where they were. */
async function importedBefore(hookline: Hookline): Promise<Map<string, Schemas['Endpoint']>> {
  const known = new Map<string, Schemas['Endpoint']>();
  for await (const endpoint of hookline.list('/v18.0/endpoints', { query: { limit: 100 } })) {
    const { [ORIGIN]: origin } = endpoint.metadata as Record<string, string>;
    if (origin !== undefined) known.set(origin, endpoint);
  }
  return known;
}
