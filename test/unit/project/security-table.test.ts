import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

/** The rows of the tables in docs/security.md: the cell that names the tests. */
const cells = readFileSync('docs/security.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Threat'))
  .map((line) => line.replace(/ \|$/, '').split(' | ').at(-1) ?? '');

describe('the tests that docs/security.md names', () => {
  it('exist, and have tests of those names', () => {
    const missing: string[] = [];
    let names = 0;
    for (const part of cells.flatMap((cell) => cell.split(';'))) {
      const [, list = '', named = ''] = /^\s*((?:`[^`]+`(?:, )?)+)(?:: (.*))?$/.exec(part) ?? [];
      const files = [...list.matchAll(/`([^`]+)`/g)].map(
        ([, path = '']) => `${path.startsWith('packages/') ? '' : 'test/'}${path}.test.ts`,
      );
      missing.push(...files.filter((file) => !existsSync(file)));
      const last = files.at(-1);
      if (!last || !existsSync(last) || named === '' || named === 'all') continue;
      const text = readFileSync(last, 'utf8');
      for (const words of named.split(/[…,]| and /).map((some) => some.trim())) {
        names += 1;
        if (!text.includes(words)) missing.push(`${last}: ${words}`);
      }
    }
    assert.deepEqual(missing, []);
    assert.ok(names > 50, `the tables name tests, not ${names}`);
  });
});
