import assert from 'node:assert/strict';
import { GoProgress } from '../src/binaries/go-progress.js';

describe('the progress of a build with Go', () => {
  const having = (...lines: string[]) => {
    const progress = new GoProgress(70);
    for (const line of lines) progress.read(line);
    return progress;
  };

  it('tells of modules until something is compiled', () => {
    assert.equal(`${having()}`, '0 of at most 70 modules fetched');
    const fetching = having(
      'go: downloading example.com/one v1.0.0',
      'go: downloading example.com/two v2.1.0',
    );
    assert.equal(`${fetching}`, '2 of at most 70 modules fetched');
  });

  it('tells of packages then, and how many there are at most', () => {
    const compiling = having('go: downloading example.com/one v1.0.0', 'packages: 540', 'internal/abi', 'io');
    assert.equal(`${compiling}`, '2 of at most 540 packages compiled');
    assert.equal(`${having('internal/abi')}`, '1 packages compiled');
  });

  it('tells how much time is left by the sizes of the sources, once enough is compiled', () => {
    let now = 0;
    const progress = new GoProgress(70, () => now);
    for (const line of ['packages: 3', 'source: io 20', 'source: net 380', 'source: example.com/large 600'])
      progress.read(line);
    progress.read('io');
    assert.equal(progress.leftMs(), undefined, 'too little is compiled to tell');
    now = 21_000;
    progress.read('net');
    assert.equal(progress.leftMs(), 79_000, 'half of the one that has begun is counted');
    now = 70_000;
    progress.read('example.com/large');
    assert.equal(`${progress}`, '3 of at most 3 packages compiled, about 30 s left');
  });

  it('keeps what was complained about last', () => {
    assert.equal(having('io', '').complaint(), '');
    assert.equal(
      having('# io', 'io.go:1:1: one error', 'io.go:2:1: another').complaint(),
      'io.go:1:1: one error io.go:2:1: another',
    );
  });
});
