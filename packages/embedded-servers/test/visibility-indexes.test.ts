import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { environmentOfEach, folderOfEach } from '../../../test/support/folder.js';
import { hasPython, runPython } from '../../../test/support/programs/python.js';
import { startTemporal } from '../src/servers/temporal.js';

/** Names of the indexes of visibility in a database of SQLite, one a line. */
const INDEXES = `
import sqlite3, sys
database = sqlite3.connect('file:' + sys.stdin.read() + '?mode=ro', uri=True)
query = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE '%visibility%' AND name LIKE 'by_%'"
print('\\n'.join(sorted(name for [name] in database.execute(query))))
`;

describe('the visibility of a Temporal that is thrown away', () => {
  const path = folderOfEach();
  environmentOfEach(() => ({ TMPDIR: path() }));

  it('has the indexes alone that are of use [world]', async function () {
    if (!(await hasPython())) return this.skip();
    const temporal = await startTemporal({
      ...{ dataDir: path('data'), namespace: 'n', port: 0, uiPort: undefined },
      ...{ persistent: false, report: () => {} },
    });
    try {
      const folder = (await readdir(path())).find((name) => name.startsWith('hookline-temporal-')) ?? '';
      const indexes = await runPython(INDEXES, path(folder, 'temporal.db'));
      const kept = ['by_status', 'by_temporal_namespace_division', 'by_workflow_id'];
      assert.deepEqual(indexes.trim().split('\n'), kept);
    } finally {
      await temporal.stop();
    }
  });
});
