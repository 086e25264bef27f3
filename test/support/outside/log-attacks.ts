import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { leafHash, newSigningKey, readSigningKey } from '../../../packages/tlog/src/index.js';
import type { LogAlteredReason } from '../../../src/domain/log/log-altered.js';
import { LogRepository } from '../../../src/models/log/log.js';

export const ORIGIN = 'hooks.example.com/log';
const stranger = readSigningKey(newSigningKey(ORIGIN));
export const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `record ${from + at}`);

/** Records in the last checkpoint before an attack: two full tiles and a part of one. */
export const SIGNED = 600;
export const APPENDED = 640;

interface Document {
  _id: string;
  width?: number;
  hashes?: Buffer;
  note?: string;
  size?: number;
  root?: string;
}

/** Attack of somebody who can write to MongoDB at will, and has no key of the log. */
export interface Attack {
  does: string;
  reason: LogAlteredReason;
  /** Whether what remembers outside of MongoDB is gone too. */
  forgets?: 'Temporal' | 'file' | 'both';
  /** A process that has looked at the whole log today finds it as well. */
  isSeenAtOnce: boolean;
  act(attacker: Attacker): Promise<unknown>;
}

export class Attacker {
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

/** Every attack on the database of a log that we know, after which nothing may be signed. */
export const ATTACKS: Attack[] = [
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
    does: 'empties a full tile of leaves',
    reason: 'leaves_missing',
    forgets: 'both',
    isSeenAtOnce: false,
    act: ({ tiles }) => tiles.updateOne({ _id: '0/0' }, { $set: { hashes: Buffer.alloc(0) } }),
  },
  {
    does: 'empties a full tile of leaves, and says so',
    reason: 'leaves_missing',
    forgets: 'both',
    isSeenAtOnce: false,
    act: ({ tiles }) => tiles.updateOne({ _id: '0/0' }, { $set: { hashes: Buffer.alloc(0), width: 0 } }),
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
