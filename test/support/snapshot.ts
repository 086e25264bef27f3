import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares a value with what is checked in; `npm run snapshots` writes it anew. */
export function matchSnapshot(file: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env['UPDATE_SNAPSHOTS']) writeFileSync(file, text);
  assert.deepEqual(
    value,
    JSON.parse(readFileSync(file, 'utf8')),
    `${file} is not so any more; if that is meant, run \`npm run snapshots\``,
  );
}
