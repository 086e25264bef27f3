import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { folderOfEach } from '../../../test/support/folder.js';
import { startServer } from '../src/servers/server-process.js';

describe('a server that is started [world]', () => {
  const inFolder = folderOfEach();
  const lines: string[] = [];
  const isUp = async () => ok((await readFile(inFolder('server.log'), 'utf8')).includes('up'));
  const commandOf = (probe: () => Promise<void>, signal: AbortSignal) => ({
    service: 'A server',
    binary: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1_000); console.log("up")'],
    logFile: inFolder('server.log'),
    probe,
    report: (line: string) => void lines.push(line),
    restart: true,
    signal,
  });

  it('is not stopped by what ends its start, if that comes later: deliveries in flight still need it', async () => {
    const ending = new AbortController();
    const server = await startServer(commandOf(isUp, ending.signal));
    equal(getEventListeners(ending.signal, 'abort').length, 0);
    ending.abort();
    await server.stop();
    deepEqual(lines, []);
  });

  it('is stopped by it while it starts', async () => {
    const ending = new AbortController();
    const probe = async () => {
      await isUp();
      ending.abort();
      throw new Error('silent');
    };
    await rejects(startServer(commandOf(probe, ending.signal)), { name: 'AbortError' });
  });
});
