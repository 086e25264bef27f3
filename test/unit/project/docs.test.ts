import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROBLEMS } from '../../../src/domain/http/problem.js';
import { configurationTable } from '../../../tools/configuration-table.js';

const read = (file: string) => readFileSync(file, 'utf8');

describe('Documents', () => {
  it('list every setting as it is (mended by `npm run docs`)', () => {
    const table = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    equal(table.join('\n'), configurationTable());
  });

  it('list every problem with its status and title', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| (.*?) \| (.+) \|$/gm)];
    const listed = rows.map(([, code, status, title]) => [code, Number(status), title]);
    deepEqual(
      listed,
      Object.entries(PROBLEMS).map(([code, [status, title]]) => [code, status, title]),
    );
  });

  it('lead to files that exist', () => {
    const files = ['README.md', 'CHANGELOG.md', ...markdownIn('docs')];
    for (const file of files) {
      for (const [, target = ''] of read(file).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (!/^\w+:/.test(target)) ok(existsSync(join(dirname(file), target)), `${file} leads to ${target}`);
      }
    }
  });
});

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}
