/** No more than this many of the latest warnings stand in a message: of those with the same text, the last one. */
const MAX_WARNINGS = 10;
const MAX_LENGTH = 600;

const latest = new Map<string, { line: string; times: number }>();

/** Forgets the warnings of earlier tests. */
export function forgetWarnings(): void {
  latest.clear();
}

/** Where loggers of a test run write, from `warn` upward: services, and the SDK with the workflow tasks that fail. */
export const warnings = {
  write(line: string): void {
    const { level: _, time: __, pid: ___, hostname: ____, ...rest } = JSON.parse(line);
    const times = (latest.get(rest.msg)?.times ?? 0) + 1;
    latest.delete(rest.msg);
    latest.set(rest.msg, { line: JSON.stringify(rest).slice(0, MAX_LENGTH), times });
    const [oldest] = latest.keys();
    if (latest.size > MAX_WARNINGS && oldest !== undefined) latest.delete(oldest);
  },
};

/**
 * A message of a failed assertion, with what was warned of in this process since the test began: it often names the
 * cause.
 */
export function withWarnings(message: string): string {
  if (latest.size === 0) return message;
  const lines = [...latest.values()].map(({ line, times }) =>
    times > 1 ? `${line} (${times} times)` : line,
  );
  return `${message}\nWarnings meanwhile:\n  ${lines.join('\n  ')}`;
}
