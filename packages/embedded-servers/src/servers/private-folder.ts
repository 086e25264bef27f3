import { chmodSync, fchmodSync, mkdirSync, openSync } from 'node:fs';

/**
 * Makes a folder of ours that no other user of the machine can look into, also if it exists. Folders above it are made
 * likewise.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}

/**
 * Opens a file of ours, to append to, that no other user of the machine can read, also if it exists: a log says who
 * calls, from where, and what went wrong.
 *
 * @returns its descriptor
 */
export function openPrivateFile(path: string): number {
  const descriptor = openSync(path, 'a', 0o600);
  fchmodSync(descriptor, 0o600);
  return descriptor;
}
