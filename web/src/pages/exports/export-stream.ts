import { HooklineError, openStream } from '../../api/client.js';
import { lastLine, WholeLines } from '../../files/whole-lines.js';

/** Period of an export. Times are ISO 8601, UTC. */
export interface Period {
  from: string;
  to: string;
  /** With who changed what. */
  changes: boolean;
}

/** Some lines of an export. */
interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  /** The time that it has come to, ISO 8601. */
  upTo: string | undefined;
}

/** How often a stream that broke off is continued without a line in between. */
const TRIES = 5;
const FIRST_WAIT_MS = 250;

/**
 * The lines of an export as they come. A stream that breaks off is continued behind its last whole line.
 *
 * @param headers say whose export it is, also when it is continued
 */
export async function* exportParts(
  { from, to, changes }: Period,
  headers: Record<string, string>,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const query = new URLSearchParams({ from, to, ...(changes && { include: 'changes' }) });
  for (let tries = 0; ; tries += 1) {
    try {
      const lines = new WholeLines();
      for await (const chunk of chunksOf(await openStream(`/v18.0/exports?${query}`, headers, signal))) {
        const bytes = lines.take(chunk);
        if (!bytes) continue;
        const { after, upTo } = readLine(lastLine(bytes));
        query.set('after', after);
        tries = 0;
        yield { bytes, upTo };
      }
      if (lines.isWhole) return;
      throw new Error('The export ended within a line.');
    } catch (error) {
      if (signal.aborted || error instanceof HooklineError || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** tries));
    }
  }
}

/** Not every browser iterates over a stream by itself. */
async function* chunksOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

interface Line {
  after: string;
  /** Set for an event. */
  created_at?: string;
  delivery?: { created_at: string };
  change?: { at: string };
}

function readLine(text: string): { after: string; upTo: string | undefined } {
  const { after, created_at, delivery, change } = JSON.parse(text) as Line;
  return { after, upTo: created_at ?? delivery?.created_at ?? change?.at };
}
