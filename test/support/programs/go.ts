import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasProgram } from './programs.js';

/** Whether this machine has the Go toolchain. */
export const hasGo = () => hasProgram('go', 'version');

/** Input of the Go program in `test/go-verifier`. */
export interface GoVerifierInput {
  key: string;
  /** Signed checkpoints. */
  older: string;
  newer: string;
  /** Consistency of the two, base64. */
  proof: readonly string[];
  /** Records, with proofs in the tree of the newer checkpoint. */
  inclusion: readonly {
    record: string;
    index: number;
    proof: readonly string[];
    /** Content to which the record commits, canonical JSON, and the salt, base64. */
    details?: string;
    salt?: string;
  }[];
  /** Tiles of the newer tree, base64, by Go's path, such as `tile/8/0/000`. */
  tiles?: Readonly<Record<string, string>>;
}

/**
 * Builds that program.
 *
 * @returns runs it, and gives what it prints, or rejects with what is not valid; `remove` deletes it
 */
export async function buildGoVerifier(): Promise<{
  verify(input: GoVerifierInput): Promise<string>;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-go-verifier-'));
  const program = join(folder, 'verifier');
  await run('go', ['build', '-trimpath', '-o', program, '.'], '', resolve('test/go-verifier'));
  return {
    verify: (input) => run(program, [], JSON.stringify(input)),
    remove: () => rm(folder, { recursive: true }),
  };
}

function run(command: string, args: string[], input: string, cwd?: string): Promise<string> {
  return new Promise((done, reject) => {
    const child = execFile(command, args, { cwd }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : done(stdout),
    );
    child.stdin?.end(input);
  });
}
