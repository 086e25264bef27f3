import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GuardedProcess } from '../servers/guarded-process.js';
import type { Report } from '../types.js';

const REPORT_EVERY_MS = 15_000;

/**
 * Waits for a program that fetches something, whose progress is seen in the growth of a folder.
 *
 * @param fetching.folder where the files arrive, at any depth
 * @param fetching.idleLimitMs a fetch that brings no byte for so many milliseconds is given up. Covers connecting, too
 * @returns its exit status, and the end of what it printed
 * @throws Error when nothing arrived for too long; the program has ended by then
 */
export async function untilFetched({
  job,
  folder,
  idleLimitMs,
  report,
}: {
  job: GuardedProcess;
  folder: string;
  idleLimitMs: number;
  report: Report;
}): Promise<{ status: number | null; printed: string }> {
  let printed = '';
  for (const stream of [job.child.stdout, job.child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-8_192);
    });
  }
  const started = Date.now();
  const initial = await sizeOf(folder);
  let size = initial;
  let grewAt = started;
  let reportedAt = started;
  while (!(await endsWithin(job.exited, 1_000))) {
    const now = Date.now();
    const sizeNow = await sizeOf(folder);
    if (sizeNow !== size) grewAt = now;
    size = sizeNow;
    if (now - grewAt > idleLimitMs) {
      await job.stop();
      throw new Error(`nothing arrived for ${idleLimitMs / 1000} s`);
    }
    if (now - reportedAt >= REPORT_EVERY_MS) {
      report(`downloading, ${(Math.max(0, size - initial) / 1e6).toFixed(0)} MB so far.`);
      reportedAt = now;
    }
  }
  return { status: await job.exited, printed };
}

/** Whether a promise settles within so many milliseconds; leaves no timer behind. */
async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const ended = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}

async function sizeOf(folder: string): Promise<number> {
  // Files come, go and are renamed meanwhile; one that is missed counts the next time.
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (s) => (s.isFile() ? s.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
