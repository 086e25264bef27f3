import { execFileSync } from 'node:child_process';

/** Whether this machine has a program. @param args make it say its version, and end */
export function hasProgram(name: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
