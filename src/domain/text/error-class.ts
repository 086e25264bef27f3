/** An error by its class, and its code if it has one: its message may name hosts and URLs, or say what was sent. */
export function errorClass(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? `${error.name} (${code})` : error.name;
}
