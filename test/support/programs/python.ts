import { execFile } from 'node:child_process';
import { hasProgram } from './programs.js';

/** Whether this machine has Python 3. */
export const hasPython = () => hasProgram('python3', '--version');

/**
 * Runs a program in Python, gives it a text, and returns what it prints.
 *
 * @throws with its error output where it fails
 */
export function runPython(program: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('python3', ['-c', program], (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout),
    );
    child.stdin?.end(input);
  });
}
