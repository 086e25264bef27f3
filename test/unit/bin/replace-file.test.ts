import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { replaceFile } from '../../../src/bin/process/replace-file.js';
import { folderOfEach } from '../../support/folder.js';

describe('a file that is replaced', () => {
  const inFolder = folderOfEach();

  it('has its mode, also where one was left beside it by a process that was killed', async () => {
    const file = inFolder('login.json');
    const beside = `${file}.${process.pid}.new`;
    await writeFile(beside, 'left');
    await chmod(beside, 0o644);
    await replaceFile(file, 'secret', 0o600);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await readFile(file, 'utf8'), 'secret');
  });

  it('stays as it was, and leaves nothing beside it, where its text cannot be made', async () => {
    const file = inFolder('backup');
    await replaceFile(file, 'before');
    async function* broken() {
      yield 'half';
      throw new Error('the database is out of reach');
    }
    await assert.rejects(replaceFile(file, broken()), /out of reach/);
    assert.equal(await readFile(file, 'utf8'), 'before');
    assert.deepEqual(await readdir(inFolder()), ['backup']);
  });
});
