import { readdir, readFile } from 'node:fs/promises';

/** What processes have used up. */
export interface Usage {
  /** Milliseconds of processor time, user and system. */
  cpuMs: number;
  /** Resident memory now, bytes. */
  residentBytes: number;
}

const TICK_MS = 10;
const PAGE_BYTES = 4_096;

/** Reads what a process has used; `undefined` if the system has no /proc. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in parentheses, may hold spaces; the numbers come after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user = 0, system = 0] = [fields[11], fields[12]].map(Number);
    return { cpuMs: (user + system) * TICK_MS, residentBytes: Number(fields[21]) * PAGE_BYTES };
  } catch {
    return undefined;
  }
}

/** The process that has all these words among its arguments. */
export async function findProcess(...words: string[]): Promise<number | undefined> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const [command = '', ...rest] = commandLine.split('\0');
    if (
      !command.endsWith('sh') &&
      words.every((word) => [command, ...rest].some((argument) => argument.includes(word)))
    ) {
      return Number(pid);
    }
  }
  return undefined;
}
