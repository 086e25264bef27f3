import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { loadSettings } from '../../../src/config/load.js';
import { newSecretKey } from '../../../src/domain/access/secret-box.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { dump, restore } from '../../support/outside/dump.js';
import { runHookline } from '../../support/programs/process.js';
import { testEnvironment } from '../../support/system.js';

const ACCOUNT = 'acct_01M7Y2V07RS2Y47QBBGSV7HTCR';

/**
 * Databases of its own: it rotates their keys. No service is needed, as all that a service knows of data keys it asks
 * this repository.
 */
describe('wrapping keys [world]', () => {
  const [former, fresh] = [newSecretKey(), newSecretKey()];
  let folder: string;
  let uri: string;
  let environment: Record<string, string>;
  const open: Database[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-wrapping-'));
    environment = await testEnvironment();
    uri = environment['MONGODB_URI'] ?? '';
  });
  after(async () => {
    await Promise.all(open.map((database) => database.close()));
    await rm(folder, { recursive: true, force: true });
  });

  /** The database as a process with these wrapping keys has it, which remembers nothing yet. */
  async function connect(wrappingKeys: string | undefined): Promise<Database> {
    const settings = loadSettings({
      ...environment,
      ...(wrappingKeys !== undefined && { HOOKLINE_WRAPPING_KEYS: wrappingKeys }),
    });
    const database = await connectDatabase(uri, requireBoxes(settings));
    open.push(database);
    return database;
  }
  const rotate = (wrappingKeys: string) =>
    runHookline('privacy', { ...environment, HOOKLINE_WRAPPING_KEYS: wrappingKeys }, ['rotate']);

  it('make an erasure final in every copy of the database once the former one is destroyed', async () => {
    // From before there were wrapping keys; and one that they wrapped.
    const first = await (await connect(undefined)).dataKeys.obtain(ACCOUNT, 'ada');
    const before = await connect(former);
    const second = await before.dataKeys.obtain(ACCOUNT, 'bob');
    assert.match(await rotate(former), /^Data keys that were wrapped again: 1\. Still .* 0\./);
    // What a backup, the oplog and the files of the database have.
    await dump(uri, join(folder, 'copy'));
    await before.dataKeys.erase(ACCOUNT, second.id);
    assert.match(await rotate(`${fresh},${former}`), /^Data keys that were wrapped again: 1\. Still .* 0\./);
    assert.match(await rotate(`${fresh},${former}`), /^Data keys that were wrapped again: 0\./);

    const after = await connect(fresh);
    const kept = await after.dataKeys.find(ACCOUNT, first.id);
    assert.ok(kept?.key.equals(first.key));
    await restore(uri, join(folder, 'copy'));
    // With the former key the copy brings back what was erased: that is why it has to be destroyed.
    const found = await (await connect(`${fresh},${former}`)).dataKeys.find(ACCOUNT, second.id);
    assert.ok(found?.key.equals(second.key));
    // With everything else that there is, it does not.
    const without = await connect(fresh);
    await assert.rejects(without.dataKeys.find(ACCOUNT, second.id), /HOOKLINE_WRAPPING_KEYS does not hold/);
  });

  it('are rotated wherever it was cut off, and say when a process still wraps with a former one', async () => {
    const subjects = Array.from({ length: 5 }, (_, index) => `subject ${index}`);
    const late = await connect(former);
    const keys = await Promise.all(subjects.map((subject) => late.dataKeys.obtain(ACCOUNT, subject)));
    const settings = loadSettings({ ...environment, HOOKLINE_WRAPPING_KEYS: `${fresh},${former}` });
    const boxes = requireBoxes(settings);
    const dying = await connectDatabase(uri, boxes);
    open.push(dying);
    const seal = boxes.keyBox.seal.bind(boxes.keyBox);
    let sealed = 0;
    boxes.keyBox.seal = (...args) => {
      sealed += 1;
      if (sealed > 2) throw new Error('killed');
      return seal(...args);
    };
    await assert.rejects(dying.dataKeys.resealAll(), /killed/);
    assert.ok((await dying.dataKeys.countOutdated()) > 0);
    // Each key is wrapped by the one or the other, and none by neither.
    const between = await connect(`${fresh},${former}`);
    for (const { id, key } of keys) assert.ok((await between.dataKeys.find(ACCOUNT, id))?.key.equals(key));
    assert.match(await rotate(`${fresh},${former}`), /Still wrapped by another key: 0\.\nTake the former/);
    const after = await connect(fresh);
    for (const { id, key } of keys) assert.ok((await after.dataKeys.find(ACCOUNT, id))?.key.equals(key));
    // A process that has not been restarted.
    await late.dataKeys.obtain(ACCOUNT, 'late');
    assert.equal(await between.dataKeys.countOutdated(), 1);
  });

  it('are needed to rotate: other keys encrypt other things, too', async () => {
    await assert.rejects(runHookline('privacy', environment, ['rotate']), /Set HOOKLINE_WRAPPING_KEYS/);
  });
});
