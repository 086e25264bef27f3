/** The JSON Pointer (RFC 6901) of a place, from the names and indexes that lead to it. The root is the empty text. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${escapePointer(String(part))}`).join('');
}

/** A name as it is written in a JSON Pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
