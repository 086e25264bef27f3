import type { EventKind, Schemas } from '../../api/types.js';
import { keyNamesOf } from '../kinds/fields.js';

/**
 * Title of a delivery for people: the kind of its event, and the first business key in its payload, such as "purchase ·
 * order 1001".
 *
 * @param kinds of the account, whose schemas mark business keys
 */
export function titleOf(kindName: string, payload: unknown, kinds: readonly EventKind[]): string {
  const schema = kinds.find(({ name }) => name === kindName)?.schema ?? {};
  for (const name of keyNamesOf(schema)) {
    const value = name
      .split('.')
      .reduce<unknown>(
        (at, part) => (at as Record<string, unknown> | undefined)?.[part],
        payload ?? undefined,
      );
    if (typeof value === 'string' || typeof value === 'number')
      return `${kindName} · ${keyText({ name, value: String(value) })}`;
  }
  return kindName;
}

/** A business key as people say it: `order_id` of `1001` is "order 1001", of `order-1001` the value alone. */
export function keyText({ name, value }: Schemas['BusinessKey']): string {
  const word = (name.split('.').at(-1) ?? name).replace(/_id$/, '').replaceAll('_', ' ');
  return value.toLowerCase().startsWith(word.toLowerCase()) ? value : `${word} ${value}`;
}
