import { readdir, readFile } from 'node:fs/promises';

/** Resources that processes have used. */
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
    const fields = await fieldsOf(pid);
    const [user = 0, system = 0] = [fields[11], fields[12]].map(Number);
    return { cpuMs: (user + system) * TICK_MS, residentBytes: Number(fields[21]) * PAGE_BYTES };
  } catch {
    return undefined;
  }
}

/** Resources that a process and its descendants have used. */
export interface TreeUsage {
  /** Milliseconds of processor time, user and system, of those that have ended as well. */
  cpuMs: number;
  /** Part of it: the main thread of the process that has used most. One thread is one core at most. */
  mainThreadMs: number;
}

/** Reads what a process and its descendants have used; zeros if the system has no /proc. */
export async function usageOfTree(root: number): Promise<TreeUsage> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map(async (pid) => ({ pid: Number(pid), ...(await statOf(pid)) })));
  const tree = new Set([root]);
  // A process has a number above its parent's, unless numbers began again: so it is looked at until nothing is found.
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  const members = all.filter(({ pid }) => tree.has(pid)).sort((a, b) => b.cpuMs - a.cpuMs);
  const [first] = members;
  const main = first && (await statOf(`${first.pid}/task/${first.pid}`));
  return { cpuMs: members.reduce((sum, { cpuMs }) => sum + cpuMs, 0), mainThreadMs: main?.ownMs ?? 0 };
}

/** The parent of a process or thread, its processor time, and that with what its children have left; milliseconds. */
async function statOf(path: string): Promise<{ parent: number; ownMs: number; cpuMs: number }> {
  const fields = await fieldsOf(path).catch(() => []);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  const ownMs = (user + system) * TICK_MS;
  return { parent: Number(fields[1] ?? 0), ownMs, cpuMs: ownMs + (childUser + childSystem) * TICK_MS };
}

/** The fields of a process's `stat`, from its state on. */
async function fieldsOf(path: string | number): Promise<string[]> {
  const stat = await readFile(`/proc/${path}/stat`, 'utf8');
  // The command's name, in parentheses, may hold spaces; the numbers come after it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
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
