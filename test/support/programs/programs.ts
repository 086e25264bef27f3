import { execFileSync } from 'node:child_process';

/** Whether this machine has a program. @param argument makes it say its version, and end */
export function hasProgram(name: string, argument: string): boolean {
  try {
    execFileSync(name, [argument], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
