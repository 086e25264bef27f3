import { mkdir } from 'node:fs/promises';
import { childEnvironment } from '../child-environment.js';
import { startGuarded } from '../servers/guarded-process.js';
import type { Report } from '../types.js';
import { untilFetched } from './fetching.js';
import type { Way } from './find-binary.js';

/** A download that brings no byte for this long is given up. Covers connecting, too. */
const IDLE_LIMIT_MS = 20_000;

/** Variables that Node.js and the libraries that download read. */
const OF_DOWNLOADS = ['NODE_*', 'MONGOMS_*', 'NPM_CONFIG_*'];

/** A program that a library downloads. */
export interface Download {
  /** Name of the download, for messages: `MongoDB's official server`, and `the official mongod`. */
  what: string;
  name: string;
  /** Where the files arrive; made if missing. */
  folder: string;
  /** Body of an ES module in which `folder` is the folder. It throws when the download fails. */
  script: string;
  /** The program, if it is in the folder. */
  kept(): Promise<string | undefined>;
}

/** An official download, kept for this user. */
export function downloadWay(download: Download): Way {
  const { kept } = download;
  return {
    how: 'downloaded',
    name: `${download.name} downloaded before`,
    absent: 'no download kept',
    kept,
    make: {
      doing: `downloading ${download.what}, once per user`,
      noun: 'the official download',
      async run(report, signal) {
        await fetchIt(download, report, signal);
        const binary = await kept();
        if (binary === undefined) throw new Error('it left no program');
        return binary;
      },
    },
  };
}

/**
 * Runs a library's download in a process of its own: there it can be given up (the libraries set no limits, or long
 * ones), its prints do not reach the terminal, and its progress is seen in the growth of the folder.
 *
 * @throws Error with the short reason
 */
async function fetchIt(
  { folder, script }: Download,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const code = `const folder = process.argv[1];
try { ${script} } catch (error) { console.error('reason: ' + error.message); process.exitCode = 1; }`;
  const job = startGuarded(process.execPath, ['--input-type=module', '--eval', code, folder], {
    output: 'pipe',
    cwd: import.meta.dirname, // the script's imports are looked up from here
    // For mongodb-memory-server: one attempt only, and a certificate that is checked, which is not its default.
    env: { MONGOMS_MAX_RETRIES: '1', npm_config_strict_ssl: 'true', ...childEnvironment(OF_DOWNLOADS) },
    graceMs: 1_000,
    signal,
  });
  const { status, printed } = await untilFetched({ job, folder, idleLimitMs: IDLE_LIMIT_MS, report });
  if (status !== 0) throw new Error(shortReason(printed));
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
