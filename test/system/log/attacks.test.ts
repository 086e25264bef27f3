import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose, { type Connection } from 'mongoose';
import {
  leafHash,
  type NoteSigner,
  newSigningKey,
  readSigningKey,
  signCheckpoint,
} from '../../../packages/tlog/src/index.js';
import { createCheckpointCopy } from '../../../src/bin/service/log/checkpoint-copy.js';
import { LogCopyError } from '../../../src/domain/log/checkpoint-copy.js';
import { LogAlteredError, type LogAlteredReason } from '../../../src/domain/log/log-altered.js';
import { LogRepository, type Memory } from '../../../src/models/log/log.js';
import { APPENDED, ATTACKS, Attacker, ORIGIN, records, SIGNED } from '../../support/outside/log-attacks.js';
import { testEnvironment } from '../../support/system.js';

const own = readSigningKey(newSigningKey(ORIGIN));

describe('a log whose database somebody rewrites', () => {
  let connection: Connection;
  let folder: string;
  let attacker: Attacker;
  let log: LogRepository;
  /** Checkpoints of it that Temporal has. */
  let ledger: string[];
  /** How often the key has signed. */
  let signatures = 0;
  const signers: NoteSigner[] = [
    {
      verifier: own.verifier,
      sign(text) {
        signatures += 1;
        return own.sign(text);
      },
    },
  ];
  const path = () => join(folder, 'checkpoint');
  const memory = (): Memory => ({ ledger, copy: createCheckpointCopy(path()) });
  const publish = async (by = log, with_ = memory()) => {
    const head = await by.publish(signers, with_);
    ledger = [head.note];
    return head;
  };
  const refuses = async (act: Promise<unknown>, reason: LogAlteredReason) => {
    const before = [signatures, await readFile(path(), 'utf8').catch(() => undefined), await attacker.head];
    await assert.rejects(act, (error) => {
      assert.ok(error instanceof LogAlteredError, String(error));
      assert.equal(error.reason, reason, error.message);
      return true;
    });
    assert.deepEqual(
      [signatures, await readFile(path(), 'utf8').catch(() => undefined), await attacker.head],
      before,
    );
  };

  before(async () => {
    const { MONGODB_URI = '' } = await testEnvironment();
    connection = await mongoose.createConnection(MONGODB_URI).asPromise();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-log-'));
    attacker = new Attacker(connection);
    await Promise.all([attacker.heads.deleteMany({}), attacker.tiles.deleteMany({})]);
    ledger = [];
    log = new LogRepository(connection);
    await log.append(records(0, 580));
    await publish();
    attacker.older = (await attacker.head) ?? undefined;
    await log.append(records(580, SIGNED));
    await publish();
    await log.append(records(SIGNED, APPENDED));
  });
  afterEach(() => rm(folder, { recursive: true }));
  after(() => connection.close());

  for (const { does, reason, forgets, isSeenAtOnce, act } of ATTACKS) {
    it(`signs nothing any more when somebody ${does}`, async () => {
      await act(attacker);
      if (forgets === 'file' || forgets === 'both') await rm(path());
      if (forgets === 'Temporal' || forgets === 'both') ledger = [];
      if (isSeenAtOnce) await refuses(log.publish(signers, memory()), reason);
      // A process that begins now, and one for which it is time to look at the whole log.
      await refuses(new LogRepository(connection).publish(signers, memory()), reason);
    });
  }

  it('finds a flipped bit in a full tile once a day, also in parts', async () => {
    await attacker.changeTile('0/1', (hashes) => {
      hashes[5] = (hashes[5] ?? 0) ^ 0x80;
    });
    const keys = [own.verifier];
    assert.equal(await log.audit(keys, 0), true, 'looked at when the process began to sign');
    const daily = new LogRepository(connection, 0);
    assert.equal(await daily.audit(keys, 0), false);
    await refuses(daily.audit(keys, Date.now() + 60_000), 'tree_altered');
    await refuses(daily.publish(signers, memory()), 'tree_altered');
  });

  it('is not signed by a key that its checkpoints are not of, though MongoDB held that key', async () => {
    const other = readSigningKey(newSigningKey(`${ORIGIN}/other`));
    await refuses(log.publish([other], memory()), 'checkpoint_not_signed');
    await attacker.heads.deleteMany({});
    await refuses(log.publish([other], memory()), 'checkpoint_not_signed');
  });

  it('is refused when Temporal and the file say different things, or the file says nothing that was signed', async () => {
    const head = (await attacker.head) ?? assert.fail();
    await writeFile(path(), signCheckpoint(head.size ?? 0, leafHash('another'), [own]));
    await refuses(log.publish(signers, memory()), 'checkpoints_differ');
    await writeFile(path(), 'hooks.example.com/log\n');
    await refuses(log.publish(signers, memory()), 'checkpoint_not_signed');
  });

  it('goes on after a crash between the copy and MongoDB, as the stored tree leads to the copy', async () => {
    const before = (await attacker.head) ?? assert.fail();
    const { note } = await log.publish(signers, memory());
    await attacker.heads.replaceOne({ _id: 'head' }, before);
    assert.equal((await new LogRepository(connection).publish(signers, memory())).note, note);
    assert.equal((await attacker.head)?.note, note);
  });

  it('shows no checkpoint that is not remembered outside: none while the copy cannot be written', async () => {
    const before = await attacker.head;
    const copy = createCheckpointCopy(join(folder, 'missing', 'checkpoint'));
    await assert.rejects(log.publish(signers, { ledger, copy }), LogCopyError);
    const closed = createCheckpointCopy('http://127.0.0.1:9/checkpoint');
    await assert.rejects(log.publish(signers, { ledger, copy: closed }), LogCopyError);
    assert.deepEqual(await attacker.head, before);
    assert.equal((await publish()).size, APPENDED);
  });

  it('carries the cosignatures of witnesses, and asks for those that are missing with the next run', async () => {
    const asked: number[] = [];
    const line = '\u2014 witness.example.com AAAAAAA=\n';
    const cosign =
      (isThere: boolean): NonNullable<Memory['cosign']> =>
      async ({ note, proofFrom }) => {
        asked.push((await proofFrom(0)).length, (await proofFrom(580)).length);
        return isThere && !note.includes(line) ? note + line : note;
      };
    const head = await publish(log, { ...memory(), cosign: cosign(false) });
    assert.equal((await attacker.head)?.note, head.note);
    const { note } = await publish(log, { ...memory(), cosign: cosign(true) });
    assert.equal(note, head.note + line);
    assert.equal((await attacker.head)?.note, note);
    assert.equal(await readFile(path(), 'utf8'), note);
    assert.equal((await publish(log, { ...memory(), cosign: cosign(true) })).note, note);
    assert.ok(asked.every((count, at) => (at % 2 === 0 ? count === 0 : count > 0)));
  });

  it('begins again under another name if the operator gives the lost one up, and only then', async () => {
    await attacker.heads.replaceOne({ _id: 'head' }, attacker.older ?? assert.fail());
    await attacker.tiles.deleteOne({ _id: '0/2' });
    const next = [readSigningKey(newSigningKey(`${ORIGIN}/2`))];
    await refuses(log.publish(next, memory()), 'checkpoint_not_signed');
    const head = await new LogRepository(connection).publish(next, { ...memory(), abandoned: [ORIGIN] });
    assert.equal(head.size, 512);
    assert.equal((await attacker.head)?.note, head.note);
    assert.equal(await readFile(path(), 'utf8'), head.note);
  });
});
