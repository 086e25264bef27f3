import type { Hookline } from '../../../../clients/typescript/src/index.js';
import { keyNamesIn } from '../../../domain/event/business-keys.js';
import { CommandError } from '../../command.js';

/** Names that a value alone is looked for under; each costs a request. */
const MAX_NAMES = 20;

/** An event kind, and the names that its events can be found by. */
export interface KindWithKeys {
  kind: string;
  key_names: string[];
}

/** The event kinds of an account with the names of their business keys. */
export async function keysOfKinds(hookline: Hookline): Promise<KindWithKeys[]> {
  const kinds: KindWithKeys[] = [];
  for await (const { name, schema } of hookline.list('/v18.0/event_kinds', { query: { limit: 100 } }))
    kinds.push({ kind: name, key_names: keyNamesIn(schema) });
  return kinds;
}

/**
 * The keys that a text may mean: `order_id:1001` itself, or `1001` under each name that a kind has.
 *
 * @param kind only names of this kind
 * @throws CommandError if there are no such names, or too many
 */
export async function keysMeant(hookline: Hookline, text: string, kind?: string): Promise<string[]> {
  if (text.includes(':')) return [text];
  const kinds = await keysOfKinds(hookline);
  const all = kinds.flatMap((one) => (kind === undefined || one.kind === kind ? one.key_names : []));
  const names = [...new Set(all)];
  if (names.length === 0)
    throw new CommandError('No such event kind has a business key. Write name:value, such as order_id:1001.');
  if (names.length > MAX_NAMES)
    throw new CommandError(
      `There are ${names.length} names of business keys. Write name:value, or name the event kind.`,
    );
  return names.map((name) => `${name}:${text}`);
}

/** As {@link keysMeant}, where there can be one alone. @throws CommandError that names them */
export async function oneKeyMeant(hookline: Hookline, text: string, kind?: string): Promise<string> {
  const [key = text, ...others] = await keysMeant(hookline, text, kind);
  if (others.length > 0)
    throw new CommandError(`"${text}" can be any of ${[key, ...others].join(', ')}. Write one of them.`);
  return key;
}
