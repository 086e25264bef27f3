import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** A folder of this package, found from the sources and from the compiled files alike. */
export function packageFolder(path: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, path);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) throw new Error(`${path} is missing from this installation`);
  }
}
