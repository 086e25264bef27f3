import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { BUNDLE_PATH } from '../../../src/temporal/server/bundle.js';
import { needs } from '../needs.js';

needs('build');

/**
 * The command line as it is built: tests that start processes run it, because its modules load in half the time of the
 * sources.
 */
export const HOOKLINE = 'dist/bin/hookline.js';

let built: Promise<void> | undefined;

/**
 * Builds Hookline once, unless the last build is younger than everything that it was made of. Code that tests run from
 * the sources looks for what was bundled beside them.
 */
export function buildOnce(): Promise<void> {
  built ??= build();
  return built;
}

async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, ['tools/build-when-stale.mjs']);
  await Promise.all([
    cp('dist/workflow-bundle.js', BUNDLE_PATH),
    replace('web/dist'),
    replace('web/reference/dist'),
  ]);
}

/** Names of files hold hashes of their content, so those of an earlier build would stay beside the new ones. */
async function replace(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await cp(`dist/${folder}`, folder, { recursive: true });
}
