import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import mongoose from 'mongoose';
import { startMongo, startTemporal } from '../../../packages/embedded-servers/src/index.js';
import { needs } from '../../support/needs.js';
import { isListening } from '../../support/programs/ports.js';

// It starts servers of its own, whose programs take minutes to make.
needs('servers');

const namespace = 'hookline-test';
const report = () => {};

/** Processes that run with this text among their arguments. */
function processesWith(text: string): string[] {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return all.split('\n').filter((line) => line.includes(text));
}

describe('embedded servers [world]', function () {
  // The first run on a machine may build them.
  this.timeout(15 * 60_000);
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hookline embedded '));
  });

  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keep the executions of Temporal between starts, also beside a throw-away one', async () => {
    const options = { dataDir: join(dataDir, 'kept'), namespace, port: 0, uiPort: 0, report };
    const withClient = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
      const server = await startTemporal(options);
      const connection = await Connection.connect({ address: server.address });
      try {
        assert.equal((await fetch(`${server.uiUrl}`)).status, 200);
        return await work(new Client({ connection, namespace }));
      } finally {
        await connection.close();
        await server.stop();
        assert.equal(await isListening(server.address), false);
      }
    };

    const throwAway = await startTemporal({
      ...options,
      dataDir: join(dataDir, 'throw-away'),
      uiPort: undefined,
      persistent: false,
    });
    assert.equal(throwAway.uiUrl, undefined);
    await withClient(async (client) => {
      const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
      assert.equal(namespaceInfo?.name, namespace);
      await client.workflow.start('waits', { workflowId: 'kept', taskQueue: 'nobody' });
      await answersListings(throwAway.address);
    });
    await throwAway.stop();
    const { status } = await withClient((client) => client.workflow.getHandle('kept').describe());
    assert.equal(status.name, 'RUNNING');
    assert.deepEqual(processesWith(dataDir), []);
  });

  /**
   * It answers far more listings than a cluster lets a namespace have, without the interceptors of the SDK, which send
   * again what is refused.
   */
  async function answersListings(address: string): Promise<void> {
    const connection = await Connection.connect({ address, interceptors: [] });
    try {
      const count = () => connection.workflowService.countWorkflowExecutions({ namespace });
      await Promise.all(Array.from({ length: 600 }, count));
    } finally {
      await connection.close();
    }
  }

  it('keep the documents of MongoDB between starts, and find one by its _id without reading the others', async () => {
    const withDatabase = async <T>(work: (connection: mongoose.Connection) => Promise<T>): Promise<T> => {
      const server = await startMongo({ dataDir, port: 0, report });
      const connection = await mongoose.createConnection(server.uri).asPromise();
      try {
        return await work(connection);
      } finally {
        await connection.close();
        await server.stop();
      }
    };
    const schema = new mongoose.Schema({ _id: String, name: String });

    await withDatabase((db) => db.model('Thing', schema).create({ _id: 't1', name: 'kept' }));
    await withDatabase(async (db) => {
      const model = db.model('Thing', schema);
      assert.equal((await model.findById('t1').orFail()).name, 'kept');
      const plan = async (filter: Record<string, string>) =>
        JSON.stringify(await model.find(filter).explain('queryPlanner'));
      assert.doesNotMatch(await plan({ _id: 't1' }), /COLLSCAN|detail=SCAN/);
      assert.doesNotMatch(await plan({ _id: 't1', name: 'kept' }), /COLLSCAN|detail=SCAN/);
      assert.equal(await model.countDocuments({ _id: 't1', name: 'other' }), 0);
      assert.match(await plan({ name: 'kept' }), /COLLSCAN|detail=SCAN/);
    });
  });

  it('do not outlive a parent that is killed', async () => {
    const servers = new URL('../../../packages/embedded-servers/src/servers/', import.meta.url).href;
    const script = `
      import { startMongo } from ${JSON.stringify(`${servers}mongo.ts`)};
      import { startTemporal } from ${JSON.stringify(`${servers}temporal.ts`)};
      const options = { dataDir: process.argv[1], port: 0, report() {} };
      const [mongo, temporal] = await Promise.all([
        startMongo(options),
        startTemporal({ ...options, namespace: 'n', uiPort: undefined }),
      ]);
      console.log(new URL(mongo.uri).host + ' ' + temporal.address);
      setInterval(() => {}, 1000);`;
    const parent = spawn(
      process.execPath,
      ['--import=tsx', '--input-type=module', '--eval', script, dataDir],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const addresses = String(line).split(' ');
    assert.deepEqual(await Promise.all(addresses.map(isListening)), [true, true]);

    parent.kill('SIGKILL');
    while (processesWith(dataDir).length > 0) await delay(50); // the test's own limit ends a wait in vain
    assert.deepEqual(await Promise.all(addresses.map(isListening)), [false, false]);
  });
});
