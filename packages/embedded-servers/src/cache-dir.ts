import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of this user for what is kept between starts, such as downloads and builds. It serves every project. */
export function userCacheDir(): string {
  const configured = process.env['XDG_CACHE_HOME'];
  if (configured) return join(configured, 'hookline');
  const usual = process.platform === 'darwin' ? join('Library', 'Caches') : '.cache';
  return join(homedir(), usual, 'hookline');
}
