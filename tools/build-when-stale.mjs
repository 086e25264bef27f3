/** Builds before a start, unless the last build is younger than everything that it was made of. */
import { execSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const BUILT = 'dist/workflow-bundle.js'; // what a build writes last
const SOURCES = [
  'src',
  'workflows',
  'activities',
  'packages',
  'bench',
  'clients/typescript/src',
  'web/src',
  'web/reference/src',
];
const FILES = [
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tools/bundle.mjs',
  'web/compressed.ts',
  'web/index.html',
  'web/vite.config.ts',
  'web/reference/index.html',
  'web/reference/vite.config.ts',
];

const changedAt = (path) => statSync(path).mtimeMs;
const built = existsSync(BUILT) ? changedAt(BUILT) : 0;
// A folder's own time tells of files that have gone.
const sources = SOURCES.flatMap((folder) => [
  folder,
  ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
]);

if ([...sources, ...FILES].some((path) => changedAt(path) > built)) {
  execSync('npm run build --silent', { stdio: 'inherit' });
}
