import { chmodSync, mkdirSync } from 'node:fs';

/** Makes a folder of ours that no other user of the machine can look into, also if it exists. Folders above it are made likewise. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}
