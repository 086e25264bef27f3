import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findBinary, goBuildWay, pathWay, userCacheDir } from '../packages/embedded-servers/src/index.js';

/** The release pinned in tools/promtool/go.mod. */
const PROMTOOL_VERSION = 'v0.311.0';

/**
 * Checks the alert rules of deploy/prometheus with promtool, and runs their unit tests. promtool is taken from PATH, or
 * built with Go: about two minutes and a half, once per user.
 */
const report = (line: string) => process.stderr.write(`${line}\n`);
const { binary } = await findBinary(
  'promtool',
  'checking the alert rules',
  [
    pathWay('promtool'),
    goBuildWay(
      {
        doing: `building promtool ${PROMTOOL_VERSION} with Go, once per user, about three minutes`,
        program: 'promtool',
        version: PROMTOOL_VERSION,
        // Service discovery, which a check of rules has no use for, is two thirds of the program.
        args: (folder) => [
          'build',
          '-v',
          '-tags=remove_all_sd',
          '-o',
          join(folder, 'promtool'),
          'github.com/prometheus/prometheus/cmd/promtool',
        ],
        sources: 'tools/promtool',
      },
      userCacheDir(),
    ),
  ],
  report,
);

for (const args of [
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
]) {
  const { status } = spawnSync(binary, args, { cwd: 'deploy/prometheus', stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
