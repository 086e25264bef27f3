type Json = Record<string, unknown>;

/**
 * The JSON Merge Patch (RFC 7396) that makes one object into another: what is gone is `null`, what is equal is left
 * out.
 */
export function mergePatch(before: Json, after: Json): Json {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const patch: Json = {};
  for (const name of names) {
    const [old, next] = [before[name], after[name]];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    if (next === undefined) patch[name] = null;
    else patch[name] = isObject(old) && isObject(next) ? mergePatch(old, next) : next;
  }
  return patch;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
