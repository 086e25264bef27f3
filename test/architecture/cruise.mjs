/**
 * Does what `depcruise` does in several folders, in one process: to start one for each would take most of the time. It is not TypeScript, because the
 * parser does not work with tsx.
 *
 * Prints, as JSON, for each folder in the arguments how often it breaks a rule, and the report.
 */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

const options = await extractOptions(resolve('.dependency-cruiser.cjs'));
const results = [];
for (const baseDir of process.argv.slice(2)) {
  const folders = readdirSync(baseDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const { exitCode: violations, output } = await cruise(
    folders.map(({ name }) => name),
    { ...options, baseDir, outputType: 'err' },
  );
  results.push({ violations, output });
}
process.stdout.write(JSON.stringify(results));
