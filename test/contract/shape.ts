/** Shape of a JSON value, with its values left out: names of types, and of ids by their prefix. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (value === null) return 'null';
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]));
  }
  if (typeof value === 'string') {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return 'time';
    return /^([a-z]+)_[0-9A-HJKMNP-TV-Z]{26}/.exec(value)?.[1] ?? 'string';
  }
  return typeof value;
}
