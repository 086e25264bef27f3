import { deepEqual, equal } from 'node:assert/strict';
import { TreeInMemory } from '../../../test/support/parts/log-tree.js';
import {
  consistencyProof,
  cosignaturesBy,
  leafHash,
  newSigningKey,
  newWitnessKey,
  readSigningKey,
  readWitnessSigner,
  rootHash,
  signCheckpoint,
  writeAddCheckpoint,
} from '../src/index.js';
import { createWitness, type Seen } from '../src/witness.js';

const log = readSigningKey(newSigningKey('log.example.com'));
const signer = readWitnessSigner(newWitnessKey('witness.example.com'));
const treeOf = (text: string) => new TreeInMemory([1, 2, 3].map((at) => leafHash(`${text} ${at}`)));

describe('a witness', () => {
  let seen: Seen = {};
  const witness = createWitness({
    signer,
    logs: [log.verifier],
    state: {
      read: async () => seen,
      write: async (next) => {
        seen = next;
      },
    },
  });
  const submit = async (from: number, size: number, tree: TreeInMemory) => {
    const note = signCheckpoint(size, await rootHash(size, tree.read), [log]);
    const proof = from === 0 ? [] : await consistencyProof(from, size, tree.read);
    return { note, ...(await witness(writeAddCheckpoint({ from, proof, note }))) };
  };

  it('cosigns what continues the checkpoint that it saw, which it keeps where it is told', async () => {
    const tree = treeOf('record');
    await submit(0, 2, tree);
    const { status, note, body } = await submit(2, 3, tree);
    equal(status, 200);
    equal(cosignaturesBy(signer.verifier, note, body).length, 1);
    deepEqual(seen, { 'log.example.com': note });
  });

  it('cosigns no other history', async () => {
    seen = {};
    await submit(0, 2, treeOf('record'));
    equal((await submit(2, 3, treeOf('forged'))).status, 422);
  });
});
