import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import mongoose from 'mongoose';
import {
  isConsistent,
  isIncluded,
  leafHash,
  newSigningKey,
  openCheckpoint,
  readSigningKey,
} from '../../../packages/tlog/src/index.js';
import { LogAlteredError } from '../../../src/domain/log/log-altered.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import type { LogRepository } from '../../../src/models/log/log.js';
import { spawnScript } from '../../support/programs/process.js';
import { testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const key = newSigningKey('hooks.example.com/log');
const signers = [readSigningKey(key)];
const keys = signers.map(({ verifier }) => verifier);
const records = (count: number, name = 'record') => Array.from({ length: count }, (_, at) => `${name} ${at}`);

/** Whether records are in the log at their numbers, by proofs against its signed head. */
async function assertHolds(
  log: LogRepository,
  all: readonly string[],
  numbers: readonly number[],
): Promise<void> {
  assert.equal(numbers.length, all.length);
  assert.equal(new Set(numbers).size, all.length);
  for (const [at, record] of all.entries()) {
    const index = numbers[at] ?? -1;
    const { proof, head } =
      (await log.prove(record, index, keys)) ?? assert.fail(`${record} is not in the log`);
    assert.ok(isIncluded(leafHash(record), index, head.size, head.root, proof), record);
  }
}

describe('the log in MongoDB', () => {
  const open: Database[] = [];
  let uri: string;
  let log: LogRepository;

  /** A process of its own, as far as the log knows. */
  const connect = async () => {
    const database = await connectDatabase(uri);
    open.push(database);
    return database.log;
  };
  beforeEach(async () => {
    uri = (await testEnvironment())['MONGODB_URI'] ?? '';
    const database = await connectDatabase(uri);
    open.push(database);
    await database.createIndexes();
    log = database.log;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((database) => database.close()));
  });

  it('holds what several processes append at once, each at its number, and signs a checkpoint of all [world]', async () => {
    assert.equal(await log.head(keys), undefined);
    assert.equal((await log.publish(signers)).size, 0);
    const processes = [log, await connect(), await connect()];
    const parts = processes.flatMap((_, at) => [records(1, `one ${at}`), records(150, `many ${at}`)]);
    const numbers = await Promise.all(
      parts.map(async (part, at) => {
        const process = processes[at >> 1] ?? log;
        const own = await process.append(part);
        await process.publish(signers);
        return own;
      }),
    );
    const head = await log.publish(signers);
    assert.equal(head.size, 453);
    assert.deepEqual(openCheckpoint(head.note, keys), {
      origin: 'hooks.example.com/log',
      size: 453,
      root: head.root,
    });
    await assertHolds(log, parts.flat(), numbers.flat());
    await assert.rejects(log.prove('many 0 1', numbers[0]?.[0] ?? -1, keys), LogAlteredError);
  });

  it('proves that each checkpoint is the beginning of the next', async () => {
    await log.append(records(10));
    const older = await log.publish(signers);
    await log.append(records(590, 'later'));
    assert.equal((await log.head(keys))?.size, 10);
    const newer = await log.publish(signers);
    assert.equal(newer.size, 600);
    assert.ok(isConsistent(older, newer, await log.consistency(10, 600)));
    assert.equal((await log.tile({ level: 0, index: 0 }, 10, 600))?.length, 320);
    assert.equal(await log.tile({ level: 0, index: 2 }, 100, 600), undefined);
  });

  it('does not prove a record before a checkpoint has it, and goes on after a crash in between', async () => {
    await log.append(['a']);
    assert.equal(await log.prove('a', 0, keys), undefined);
    await log.publish(signers);
    await log.append(['b', 'c']);
    assert.equal(await log.prove('b', 1, keys), undefined);
    const other = await connect();
    assert.deepEqual(await other.append(['c', 'd', 'd']), [2, 3, 3]);
    assert.equal((await other.publish(signers)).size, 4);
    await assertHolds(other, ['a', 'b', 'c', 'd'], [0, 1, 2, 3]);
  });

  it('has a record once that several append at the same moment, or again after many others [world]', async () => {
    const processes = [log, await connect(), await connect()];
    const same = records(300);
    const [first = [], ...others] = await Promise.all(
      processes.map((process, at) => process.append(at === 1 ? [...same].reverse() : same)),
    );
    assert.deepEqual(others, [[...first].reverse(), first]);
    assert.equal(await log.size(), 300);
    await log.append(records(3_000, 'other'));
    assert.deepEqual(await (await connect()).append(same), first);
    await log.append(records(4_000, 'yet another'));
    assert.equal((await (await connect()).append(['record 0']))[0], 7_300);
    assert.equal(await log.size(), 7_301);
    // What a process remembers is not believed when it is gone.
    const connection = await mongoose.createConnection(uri).asPromise();
    await connection.collection('log_tiles').deleteMany({});
    await connection.close();
    await assert.rejects(log.append(['yet another 3999']), /not in the log any more/);
    assert.deepEqual(await log.append(['yet another 3999']), [0]);
  });

  it('keeps the leaves of a run together, whoever appends at the same moment, and finds it again whole', async () => {
    const processes = [log, await connect(), await connect()];
    const runs = processes.map((_, at) =>
      [1, 300, 90].map((count) => records(count, `run ${at} of ${count}`).map(leafHash)),
    );
    const firsts = await Promise.all(processes.map((one, at) => one.appendRuns(runs[at] ?? [])));
    const leaves = await log.leavesFrom(0);
    for (const [at, run] of runs.flat().entries()) {
      const first = firsts.flat()[at] ?? -1;
      assert.deepEqual(leaves.slice(first, first + run.length), run);
    }
    const size = await log.size();
    assert.deepEqual(await (await connect()).appendRuns(runs.flat()), firsts.flat());
    assert.equal(await log.size(), size);
    // Of a run that is there in part alone, nothing is found.
    const [, long = []] = runs[0] ?? [];
    assert.deepEqual(await log.appendRuns([[...long, leafHash('one more')]]), [size]);
  });

  it('keeps every record where it was appended, and has no gap, after two processes were killed [world]', async () => {
    const children = ['one', 'two'].map((name) =>
      spawnScript('test/support/programs/append-leaves.ts', [uri, name, key]),
    );
    const appended = await Promise.all(
      children.map(async (child, at) => {
        const lines: string[] = [];
        createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => lines.push(line));
        await until(
          () => lines.length,
          (count) => count >= 3 + at,
        );
        child.kill('SIGKILL');
        await once(child, 'close');
        return lines.map((line) => JSON.parse(line) as { records: string[]; numbers: number[] });
      }),
    );
    const done = appended.flat();
    const head = await log.publish(signers);
    assert.ok(head.size >= done.length * 300, `${head.size} of ${done.length * 300}`);
    const sample = done.flatMap(({ records, numbers }) =>
      [0, 150, 299].map((at) => [records[at], numbers[at]]),
    );
    await assertHolds(
      log,
      sample.map(([record]) => String(record)),
      sample.map(([, number]) => Number(number)),
    );
    assert.equal(new Set(done.flatMap(({ numbers }) => numbers)).size, done.length * 300);
  });

  it('signs nothing when leaves are gone, or the stored tree is another', async () => {
    const connection = await mongoose.createConnection(uri).asPromise();
    const tiles = connection.collection<{ _id: string; hashes: Buffer }>('log_tiles');
    await log.append(records(600));
    const middle = await tiles.findOneAndDelete({ _id: '0/1' });
    await assert.rejects(log.publish(signers), /leaves of the log are missing/);
    await tiles.insertOne(middle ?? assert.fail());
    await log.publish(signers);

    await log.append(records(1, 'more'));
    await tiles.updateOne({ _id: '0/2' }, { $set: { hashes: Buffer.alloc(89 * 32) } });
    await assert.rejects(log.publish(signers), /not the one that was signed/);
    await connection.close();
  });

  it('signs the last checkpoint again when the key is another', async () => {
    await log.append(records(3));
    await log.publish(signers);
    const next = [readSigningKey(newSigningKey('hooks.example.com/log')), ...signers];
    const head = await log.publish(next);
    assert.deepEqual(head.note, (await log.head(keys))?.note);
    for (const { verifier } of next) assert.equal(openCheckpoint(head.note, [verifier]).size, 3);
  });
});
