import assert from 'node:assert/strict';
import { ferretArguments } from '../src/servers/mongo.js';
import { serverArguments } from '../src/servers/temporal.js';

describe('an embedded server', () => {
  const temporal = (persistent: boolean) =>
    serverArguments({ port: 1, ui: undefined, namespace: 'n', databaseFile: 'f', persistent });

  it('writes what it acknowledges to the disk, if its data are kept', () => {
    assert.ok(temporal(true).includes('synchronous=FULL'));
    assert.ok(!temporal(true).join().includes('DROP'));
    assert.deepEqual(ferretArguments(1, 'f', true).slice(-2), ['-synchronous', 'full']);
  });

  it('waits for no disk, if they are thrown away', () => {
    assert.ok(temporal(false).some((argument) => argument.startsWith('synchronous=OFF; DROP INDEX')));
    assert.deepEqual(ferretArguments(1, 'f', false).slice(-2), ['-synchronous', 'off']);
  });
});
