import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startGuarded } from '../servers/guarded-process.js';
import type { Report } from '../types.js';

/** A download that brings no byte for this long is given up. Covers connecting, too. */
const IDLE_LIMIT_MS = 20_000;
const REPORT_EVERY_MS = 15_000;

/** What {@link download} runs. */
export interface Download {
  /** Name for messages. */
  service: string;
  /** Where the files arrive; made if missing. */
  folder: string;
  /** Body of an ES module in which `folder` is the folder. It throws when the download fails. */
  script: string;
  report: Report;
}

/**
 * Runs a library's download in a process of its own: there it can be given up (the libraries set no limits, or long ones),
 * its prints do not reach the terminal, and its progress is seen in the growth of the folder.
 *
 * @throws Error with the short reason
 */
export async function download({ service, folder, script, report }: Download): Promise<void> {
  await mkdir(folder, { recursive: true });
  const code = `const folder = process.argv[1];
try { ${script} } catch (error) { console.error('reason: ' + error.message); process.exitCode = 1; }`;
  const job = startGuarded(process.execPath, ['--input-type=module', '--eval', code, folder], {
    output: 'pipe',
    cwd: import.meta.dirname, // the script's imports are looked up from here
    // For mongodb-memory-server: one attempt only, and a certificate that is checked, which is not its default.
    env: { MONGOMS_MAX_RETRIES: '1', npm_config_strict_ssl: 'true', ...process.env },
    graceMs: 1_000,
  });
  let printed = '';
  for (const stream of [job.child.stdout, job.child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-8_192);
    });
  }

  const idle = await watchGrowth(folder, job.exited, (bytes) =>
    report(`${service}: downloading, ${(bytes / 1e6).toFixed(0)} MB so far.`),
  );
  if (idle) {
    await job.stop();
    throw new Error(`nothing arrived for ${IDLE_LIMIT_MS / 1000} s`);
  }
  if ((await job.exited) !== 0) throw new Error(shortReason(printed));
}

/** Looks at the folder every second until the job ends (false) or the folder has not grown for too long (true). */
async function watchGrowth(
  folder: string,
  exited: Promise<unknown>,
  progress: (bytes: number) => void,
): Promise<boolean> {
  const started = Date.now();
  const initial = await sizeOf(folder);
  let size = initial;
  let grewAt = started;
  let reportedAt = started;
  for (;;) {
    if (await endsWithin(exited, 1_000)) return false;
    const now = Date.now();
    const sizeNow = await sizeOf(folder);
    if (sizeNow !== size) grewAt = now;
    size = sizeNow;
    if (now - grewAt > IDLE_LIMIT_MS) return true;
    if (now - reportedAt >= REPORT_EVERY_MS) {
      progress(Math.max(0, size - initial));
      reportedAt = now;
    }
  }
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
  const names = await readdir(folder);
  // A file may be renamed between the two calls; it counts again the next time.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (s) => s.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The libraries' messages are long chains ("failed to …: error …: client error: …"); the cause is at the end. */
function shortReason(printed: string): string {
  const message = printed.slice(printed.lastIndexOf('reason: ') + 'reason: '.length);
  const [, details = message] = message.split(/Details:\s*/);
  const line = details.trim().split('\n')[0] ?? '';
  return (
    line
      .replace(/ for url \([^)]*\)/g, '')
      .split(': ')
      .slice(-2)
      .join(': ') || 'it ended without a reason'
  );
}
