/** Keeps what is remembered within a limit: what was put in first makes room. */
export function dropOldest<K>(remembered: Map<K, unknown> | Set<K>, limit: number): void {
  for (const oldest of remembered.keys()) {
    if (remembered.size <= limit) return;
    remembered.delete(oldest);
  }
}
