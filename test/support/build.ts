import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { promisify } from 'node:util';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';

/** The command line as it is built: tests that start processes run it, because its modules load in half the time of the sources. */
export const HOOKLINE = 'dist/src/bin/hookline.js';

/**
 * Builds Hookline, unless the last build is younger than everything that it was made of. Code that tests run from the sources looks for
 * what was bundled beside them.
 */
export async function buildOnce(): Promise<void> {
  await promisify(execFile)(process.execPath, ['tools/build-when-stale.mjs']);
  await Promise.all([
    cp('dist/workflow-bundle.js', BUNDLE_PATH),
    cp('dist/web/dist', 'web/dist', { recursive: true }),
    cp('dist/web/reference/dist', 'web/reference/dist', { recursive: true }),
  ]);
}
