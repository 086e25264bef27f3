/** No more than this many of the latest warnings stand in a message. */
const MAX_WARNINGS = 10;
const MAX_LENGTH = 600;

const latest: string[] = [];

/** Forgets the warnings of earlier tests. */
export function forgetWarnings(): void {
  latest.length = 0;
}

/** Where loggers of a test run write, from `warn` upward: services, and the SDK with the workflow tasks that fail. */
export const warnings = {
  write(line: string): void {
    const { level: _, time: __, pid: ___, hostname: ____, ...rest } = JSON.parse(line);
    latest.push(JSON.stringify(rest).slice(0, MAX_LENGTH));
    if (latest.length > MAX_WARNINGS) latest.shift();
  },
};

/** A message of a failed assertion, with what was warned of in this process since the test began: it often names the cause. */
export function withWarnings(message: string): string {
  return latest.length === 0 ? message : `${message}\nWarnings meanwhile:\n  ${latest.join('\n  ')}`;
}
