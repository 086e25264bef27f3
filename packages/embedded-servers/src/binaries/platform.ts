import { join } from 'node:path';
import { EmbeddedUnavailableError } from '../errors.js';

/**
 * Starting servers relies on process groups and a POSIX shell.
 *
 * @throws {@link EmbeddedUnavailableError} on Windows
 */
export function requireUnix(service: string, setting: string): void {
  if (process.platform !== 'win32') return;
  throw new EmbeddedUnavailableError(service, [
    `${setting} is not set`,
    'servers can be started on Linux and macOS only (WSL included)',
  ]);
}

/** A folder of this package that lies beside its sources, and beside what they are compiled into. */
export function ownFolder(name: string): string {
  return join(import.meta.dirname, '../..', name);
}
