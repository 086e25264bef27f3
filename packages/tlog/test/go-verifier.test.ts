import assert from 'node:assert/strict';
import { TreeInMemory } from '../../../test/support/parts/log-tree.js';
import { buildGoVerifier, type GoVerifierInput, hasGo } from '../../../test/support/programs/go.js';
import { signCheckpoint } from '../src/checkpoint.js';
import { consistencyProof, inclusionProof, leafHash, rootHash } from '../src/merkle-tree.js';
import { newSigningKey, readSigningKey } from '../src/signed-note.js';

/** More than one tile of the second level. */
const SIZE = 66_000;
const OLDER = 65_537;

describe('the standard packages of Go', () => {
  const signer = readSigningKey(newSigningKey('hooks.example.com/log'));
  let go: Awaited<ReturnType<typeof buildGoVerifier>> | undefined;
  let input: GoVerifierInput;

  before(async function () {
    if (!hasGo()) return this.skip();
    go = await buildGoVerifier();
    const records = Array.from({ length: SIZE }, (_, at) => `{"id":"${at}"}`);
    const tree = new TreeInMemory(records.map(leafHash));
    const base64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'));
    input = {
      key: signer.verifier.text,
      older: signCheckpoint(OLDER, await rootHash(OLDER, tree.read), [signer]),
      newer: signCheckpoint(SIZE, await rootHash(SIZE, tree.read), [signer]),
      proof: base64(await consistencyProof(OLDER, SIZE, tree.read)),
      inclusion: await Promise.all(
        [0, 255, 256, 65_535, 65_536, SIZE - 1].map(async (index) => ({
          record: records[index] ?? '',
          index,
          proof: base64(await inclusionProof(index, SIZE, tree.read)),
        })),
      ),
      tiles: tree.paths(),
    };
  });
  after(() => go?.remove());

  it('verify checkpoints, consistency and inclusion, and prove the same from the tiles', async () => {
    assert.equal(
      await go?.verify(input),
      `hooks.example.com/log: 6 of ${SIZE} leaves, consistent with ${OLDER}\n`,
    );
  });

  it('refuse a record, a proof and a checkpoint that are others', async () => {
    const [first, ...rest] = input.inclusion;
    const changed = { record: '{"id":"x"}', index: 0, proof: first?.proof ?? [] };
    await assert.rejects(
      async () => go?.verify({ ...input, inclusion: [changed, ...rest] }),
      /inclusion of 0/,
    );
    await assert.rejects(async () => go?.verify({ ...input, proof: input.proof.slice(1) }), /consistency/);
    await assert.rejects(
      async () => go?.verify({ ...input, newer: input.newer.replace('66000', '66001') }),
      /newer checkpoint/,
    );
  });
});
