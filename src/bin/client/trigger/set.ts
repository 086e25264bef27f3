import { CommandError } from '../../command.js';
import { type JsonSchema, schemaBehind, typeOf } from './example.js';

/**
 * Changes a payload by `name=value`, or `items.0.qty=2` further down. The schema says of which type the value is;
 * without one, what reads as JSON is JSON, and everything else is a text.
 *
 * @throws CommandError that names what cannot be set
 */
export function setValue(payload: unknown, assignment: string, schema: JsonSchema): unknown {
  const cut = assignment.indexOf('=');
  if (cut < 1) throw new CommandError(`Write --set ${assignment || 'name'}=value.`);
  const path = assignment.slice(0, cut).split('.');
  if (path.some((part) => part === '' || part === '__proto__'))
    throw new CommandError(`"${path.join('.')}" does not name a part of a payload.`);
  return put(payload, path, assignment.slice(cut + 1), schema, schema);
}

function put(
  target: unknown,
  path: readonly string[],
  text: string,
  schema: JsonSchema,
  root: JsonSchema,
): unknown {
  const here = schemaBehind(schema, root);
  const [part, ...rest] = path;
  if (part === undefined) return typed(text, here);
  const isList = Array.isArray(target) || (target === undefined && typeOf(here) === 'array');
  if (isList) {
    const list = Array.isArray(target) ? [...target] : [];
    const index = Number(part);
    if (!Number.isInteger(index) || index < 0 || index > list.length)
      throw new CommandError(
        `"${part}" is not a number from 0 to ${list.length}: it is the place in a list.`,
      );
    list[index] = put(list[index], rest, text, (here['items'] ?? {}) as JsonSchema, root);
    return list;
  }
  const object = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  const properties = (here['properties'] ?? {}) as Record<string, JsonSchema>;
  return { ...object, [part]: put(object[part], rest, text, properties[part] ?? {}, root) };
}

function typed(text: string, schema: JsonSchema): unknown {
  const type = typeOf(schema);
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    if (type === undefined) return text;
    throw new CommandError(`"${text}" is not of the type ${type}, which the schema asks for.`);
  }
}
