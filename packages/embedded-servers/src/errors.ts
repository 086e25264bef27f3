/** No way to get a server worked; the message names every way that was tried and why it failed. */
export class EmbeddedUnavailableError extends Error {
  override readonly name = 'EmbeddedUnavailableError';
  /** As they are shown. */
  readonly lines: readonly string[] = this.message.split('\n');

  /** @param reasons one per way, in the order they were tried */
  constructor(service: string, reasons: readonly string[]) {
    const list = reasons.map((reason, index) => `  ${index + 1}. ${reason}`).join('\n');
    super(`${service} cannot be started here. Tried, in this order:\n${list}`);
  }
}

/** A port that a server needs is in use, or may not be used; the message names the setting that moves it. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';

  /** @param setting the environment variable to change */
  constructor(port: number, setting: string, purpose: string, cause: unknown) {
    const denied = (cause as NodeJS.ErrnoException).code === 'EACCES';
    const problem = denied ? 'may not be used by this user' : 'is already in use';
    super(`Port ${port} (${purpose}) ${problem}. Choose another one with ${setting}.`, { cause });
  }
}

/** A server was found and started, but ended or did not answer in time; the message shows the end of its log. */
export class EmbeddedStartError extends Error {
  override readonly name = 'EmbeddedStartError';
  /** As they are shown. */
  readonly lines: readonly string[] = this.message.split('\n');
}

/** The text of any thrown value, in one line of at most 200 characters. */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.replace(/\s+/g, ' ').trim();
  // Between characters, as `cutText` of the service does, which these servers do without.
  return line.length > 200 ? `${line.slice(0, 199).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
