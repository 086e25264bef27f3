import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose, { type Connection } from 'mongoose';
import { createCheckpointCopy } from '../../../src/bin/service/log/checkpoint-copy.js';
import { signCheckpoint } from '../../../src/domain/log/checkpoint.js';
import { LogCopyError } from '../../../src/domain/log/checkpoint-copy.js';
import { LogAlteredError, type LogAlteredReason } from '../../../src/domain/log/log-altered.js';
import { leafHash } from '../../../src/domain/log/merkle-tree.js';
import { type NoteSigner, newSigningKey, readSigningKey } from '../../../src/domain/log/signed-note.js';
import { LogRepository, type Memory } from '../../../src/models/log/log.js';
import { testEnvironment } from '../../support/system.js';

const ORIGIN = 'hooks.example.com/log';
const own = readSigningKey(newSigningKey(ORIGIN));
const stranger = readSigningKey(newSigningKey(ORIGIN));
const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `record ${from + at}`);

/** Records in the last checkpoint before an attack: two full tiles and a part of one. */
const SIGNED = 600;
const APPENDED = 640;

interface Document {
  _id: string;
  width?: number;
  hashes?: Buffer;
  note?: string;
  size?: number;
  root?: string;
}

/** What somebody does who can write to MongoDB as he likes, and has no key of the log. */
interface Attack {
  does: string;
  reason: LogAlteredReason;
  /** Whether what remembers outside of MongoDB is gone too. */
  forgets?: 'Temporal' | 'file' | 'both';
  /** A process that has looked at the whole log today finds it as well. */
  isSeenAtOnce: boolean;
  act(attacker: Attacker): Promise<unknown>;
}

class Attacker {
  readonly connection: Connection;
  /** The document of the checkpoint before the last. */
  older: Document | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get heads() {
    return this.connection.collection<Document>('log_heads');
  }

  get tiles() {
    return this.connection.collection<Document>('log_tiles');
  }

  get head(): Promise<Document | null> {
    return this.heads.findOne({ _id: 'head' });
  }

  /** Puts another record in the place of one, in the leaves alone. */
  async forgeLeaf(index: number): Promise<void> {
    const _id = `0/${Math.floor(index / 256)}`;
    await this.changeTile(_id, (hashes) => leafHash('delivered 11:28').copy(hashes, (index % 256) * 32));
  }

  async hashesOf(_id: string): Promise<Buffer> {
    const { hashes } = (await this.tiles.findOne({ _id })) ?? assert.fail(`no tile ${_id}`);
    return Buffer.from((hashes as unknown as { buffer: Uint8Array }).buffer);
  }

  async changeTile(_id: string, change: (hashes: Buffer) => unknown): Promise<void> {
    const hashes = await this.hashesOf(_id);
    change(hashes);
    await this.tiles.updateOne({ _id }, { $set: { hashes } });
  }

  /** Makes the tile above the leaves as it follows from them: by a log of its own in the same database. */
  async makeUpper(): Promise<void> {
    await this.tiles.deleteMany({ _id: { $regex: '^[1-9]' } });
    const head = await this.head;
    await this.heads.deleteMany({});
    await new LogRepository(this.connection).publish([stranger]);
    const forged = await this.head;
    await this.heads.deleteMany({});
    if (head) await this.heads.insertOne(head);
    this.forged = forged ?? undefined;
  }

  /** The head of the rewritten log, signed with another key. */
  forged: Document | undefined;
}

const ATTACKS: Attack[] = [
  {
    does: 'rewrites a leaf, and removes the tiles above and the last checkpoint',
    reason: 'checkpoint_missing',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.tiles.deleteMany({ _id: { $regex: '^[1-9]' } });
      await attacker.heads.deleteMany({});
    },
  },
  {
    does: 'rewrites a leaf and removes the last checkpoint, when Temporal has forgotten',
    reason: 'checkpoint_missing',
    forgets: 'Temporal',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.heads.deleteMany({});
    },
  },
  {
    does: 'rewrites a leaf and removes the last checkpoint, when the file is gone',
    reason: 'checkpoint_missing',
    forgets: 'file',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.heads.deleteMany({});
    },
  },
  {
    does: 'removes the whole log',
    reason: 'checkpoint_missing',
    isSeenAtOnce: true,
    async act({ heads, tiles }) {
      await heads.deleteMany({});
      await tiles.deleteMany({});
    },
  },
  {
    does: 'puts the checkpoint before the last back, with other leaves after it',
    reason: 'checkpoint_smaller',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(590);
      await attacker.heads.replaceOne({ _id: 'head' }, attacker.older ?? assert.fail());
    },
  },
  {
    does: 'puts the checkpoint before the last back, when Temporal has forgotten',
    reason: 'tree_altered',
    forgets: 'Temporal',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(590);
      await attacker.heads.replaceOne({ _id: 'head' }, attacker.older ?? assert.fail());
    },
  },
  {
    does: 'puts the checkpoint before the last back and cuts the leaves, when Temporal has forgotten',
    reason: 'leaves_missing',
    forgets: 'Temporal',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.heads.replaceOne({ _id: 'head' }, attacker.older ?? assert.fail());
      const hashes = (await attacker.hashesOf('0/2')).subarray(0, 32 * 5);
      await attacker.tiles.updateOne({ _id: '0/2' }, { $set: { hashes, width: 5 } });
    },
  },
  {
    does: 'writes size and root of a rewritten log beside the signed note',
    reason: 'checkpoint_altered',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.makeUpper();
      const { size, root } = attacker.forged ?? assert.fail();
      await attacker.heads.updateOne({ _id: 'head' }, { $set: { size: size ?? 0, root: root ?? '' } });
    },
  },
  {
    does: 'writes a smaller size beside the signed note',
    reason: 'checkpoint_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    act: ({ heads }) => heads.updateOne({ _id: 'head' }, { $set: { size: 256 } }),
  },
  {
    does: 'puts a checkpoint of a rewritten log there that another key of that name signed',
    reason: 'checkpoint_not_signed',
    forgets: 'both',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.makeUpper();
      await attacker.heads.replaceOne({ _id: 'head' }, attacker.forged ?? assert.fail());
    },
  },
  {
    does: 'rewrites a leaf, and the tiles above it to match',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    async act(attacker) {
      await attacker.forgeLeaf(3);
      await attacker.makeUpper();
    },
  },
  {
    does: 'flips a bit in a full tile of leaves',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: false,
    act: (attacker) =>
      attacker.changeTile('0/0', (hashes) => {
        hashes[777] = (hashes[777] ?? 0) ^ 1;
      }),
  },
  {
    does: 'rewrites a signed leaf of the tile that still grows',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    act: (attacker) => attacker.forgeLeaf(SIGNED - 1),
  },
  {
    does: 'changes a hash above the leaves',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    act: (attacker) => attacker.changeTile('1/0', (hashes) => hashes.fill(0, 0, 32)),
  },
  {
    does: 'removes the tile above the leaves',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    act: ({ tiles }) => tiles.deleteOne({ _id: '1/0' }),
  },
  {
    does: 'removes a full tile of leaves',
    reason: 'leaves_missing',
    forgets: 'both',
    isSeenAtOnce: false,
    act: ({ tiles }) => tiles.deleteOne({ _id: '0/0' }),
  },
  {
    does: 'cuts the leaves below what was signed',
    reason: 'leaves_missing',
    forgets: 'both',
    isSeenAtOnce: true,
    act: ({ tiles }) => tiles.deleteOne({ _id: '0/2' }),
  },
  {
    does: 'writes the tile above the leaves in advance, wider than it is',
    reason: 'tree_altered',
    forgets: 'both',
    isSeenAtOnce: true,
    async act(attacker) {
      const hashes = Buffer.concat([await attacker.hashesOf('1/0'), leafHash('planted')]);
      await attacker.tiles.updateOne({ _id: '1/0' }, { $set: { hashes, width: 3 } });
      // The tile of leaves that it is about becomes full.
      await new LogRepository(attacker.connection).append(records(APPENDED, 800));
    },
  },
];

describe('a log whose database somebody rewrites', () => {
  let connection: Connection;
  let folder: string;
  let attacker: Attacker;
  let log: LogRepository;
  /** What Temporal has of it. */
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
