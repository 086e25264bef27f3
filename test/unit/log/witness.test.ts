import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  consistencyProof,
  cosignaturesBy,
  leafHash,
  newSigningKey,
  newWitnessKey,
  readSigningKey,
  readVerifierKey,
  readWitnessKey,
  readWitnessSigner,
  rootHash,
  signCheckpoint,
  writeAddCheckpoint,
} from '../../../packages/tlog/src/index.js';
import { createWitness, type Witness, witnessServer } from '../../../packages/tlog/src/witness.js';
import { createCosign, parseWitnesses } from '../../../src/bin/service/log/witnesses.js';
import { prepareState, stateIn } from '../../../src/bin/witness/witness-state.js';
import { verifyCertificate } from '../../../src/domain/log/certificate.js';
import { statementOf } from '../../../src/domain/log/statement.js';
import { folderOfEach } from '../../support/folder.js';
import { sampleLog } from '../../support/outside/certificates.js';
import { TreeInMemory } from '../../support/parts/log-tree.js';

const log = readSigningKey(newSigningKey('hooks.example.com/log'));
const signer = readWitnessSigner(newWitnessKey('witness.example.com'));
const leaves = (count: number, name = 'record') =>
  Array.from({ length: count }, (_, at) => leafHash(`${name} ${at}`));

describe('a witness', () => {
  const inFolder = folderOfEach();
  let state: string;
  let witness: Witness;
  const tree = new TreeInMemory(leaves(40));
  const checkpoint = async (size: number, of = tree, by = log) =>
    signCheckpoint(size, await rootHash(size, of.read), [by]);
  const submit = async (from: number, size: number, of = tree, by = log) => {
    const proof = from > 0 && from < size ? await consistencyProof(from, size, of.read) : [];
    return witness(writeAddCheckpoint({ from, proof, note: await checkpoint(size, of, by) }));
  };

  beforeEach(async () => {
    state = inFolder('state.json');
    await prepareState(state, true);
    witness = createWitness({ signer, state: stateIn(state), logs: [log.verifier] });
  });

  it('cosigns what continues what it saw, also after it was started again, and says what it saw otherwise', async () => {
    const first = await submit(0, 10);
    assert.equal(first.status, 200);
    const [cosigned] = cosignaturesBy(signer.verifier, await checkpoint(10), first.body);
    assert.ok(Math.abs((cosigned?.at.getTime() ?? 0) - Date.now()) < 60_000);
    assert.equal((await submit(10, 10)).status, 200);
    witness = createWitness({ signer, state: stateIn(state), logs: [log.verifier] });
    assert.deepEqual(await submit(0, 30), { status: 409, type: 'text/x.tlog.size', body: '10\n' });
    assert.equal((await submit(10, 30)).status, 200);
    assert.deepEqual((await submit(10, 20)).body, '30\n');
    assert.equal(JSON.parse(await readFile(state, 'utf8'))['hooks.example.com/log'], await checkpoint(30));
  });

  it('cosigns no other history, and remembers none', async () => {
    await submit(0, 10);
    const before = await readFile(state, 'utf8');
    const other = new TreeInMemory(leaves(40, 'forged'));
    const stranger = readSigningKey(newSigningKey('hooks.example.com/log'));
    const elsewhere = readSigningKey(newSigningKey('other.example.com/log'));
    assert.equal((await submit(10, 10, other)).status, 409);
    assert.equal((await submit(10, 30, other)).status, 422);
    assert.equal((await submit(10, 30, tree, stranger)).status, 403);
    assert.equal((await submit(10, 30, tree, elsewhere)).status, 404);
    assert.equal((await submit(10, 5)).status, 400);
    const note = await checkpoint(30);
    const statuses = [];
    for (const body of [
      '',
      'old 10\n',
      `old 010\n\n${note}`,
      `old x\n\n${note}`,
      `old 10\nAAAA\n\n${note}`,
      `old 10\n\nx`,
    ])
      statuses.push((await witness(body)).status);
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400]);
    assert.equal((await witness(`old 10\n\n${note}`)).status, 422);
    assert.equal(await readFile(state, 'utf8'), before);
  });

  it('cosigns one of two that are sent at once from one size', async () => {
    await submit(0, 10);
    const answers = await Promise.all([submit(10, 20), submit(10, 30)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  });

  it('does not begin anew where it has lost what it saw, unless it is told to', async () => {
    await submit(0, 10);
    await prepareState(state, false);
    await assert.rejects(prepareState(state, true), /is there already: .* Leave out --new/);
    for (const other of ['', 'null', '[]', '{"hooks.example.com/log":10}']) {
      await writeFile(state, other);
      await assert.rejects(prepareState(state, false), /is not what a witness keeps/, other);
    }
    await rm(state);
    await assert.rejects(prepareState(state, false), /is not there\. .* needs a new key .* Say --new/);
    await assert.rejects(readFile(state), /ENOENT/);
  });

  it('does not cosign what it cannot remember', async () => {
    await writeFile(state, 'not JSON');
    await assert.rejects(submit(0, 10));
    await rm(state);
    await assert.rejects(submit(0, 10), /ENOENT/);
  });

  it('is asked over HTTP for its cosignature, wherever it was before, and for no second one', async () => {
    await submit(0, 7);
    const server = witnessServer(witness, (error) => assert.fail(String(error))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failed: string[] = [];
    const refusals: boolean[] = [];
    const cosign =
      createCosign(parseWitnesses(`${signer.verifier.text}@${url}/`), (_, why, isRefusal) => {
        failed.push(why);
        refusals.push(isRefusal);
      }) ?? assert.fail();
    const ask = async (size: number, of = tree, note?: string) =>
      cosign({
        note: note ?? (await checkpoint(size, of)),
        size,
        proofFrom: async (from) => (from === 0 ? [] : consistencyProof(from, size, of.read)),
      });
    const cosigned = await ask(20);
    assert.equal(cosignaturesBy(signer.verifier, cosigned, cosigned).length, 1);
    assert.equal(await ask(20, tree, cosigned), cosigned);
    const forged = await checkpoint(30, new TreeInMemory(leaves(40, 'forged')));
    assert.equal(await ask(30, tree, forged), forged);
    assert.equal(await ask(5), await checkpoint(5));
    assert.match(failed[0] ?? '', /it responded with 422/);
    assert.match(failed[1] ?? '', /it saw 20 records, and the log has 5: the log was taken back/);
    assert.equal((await fetch(url)).status, 404);
    const long = await fetch(`${url}/add-checkpoint`, { method: 'POST', body: 'x'.repeat(40_000) });
    assert.equal(long.status, 413);
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    await ask(30);
    assert.equal(failed.length, 3);
    const refusing = createServer((_, response) => void response.writeHead(500).end(`${'x'.repeat(199)}😀`));
    await once(refusing.listen(Number(new URL(url).port), '127.0.0.1'), 'listening');
    await ask(30);
    refusing.close();
    refusing.closeAllConnections();
    assert.match(failed[3] ?? '', /^it responded with 500: x{199}$/, 'cut between characters');
    assert.deepEqual(
      refusals,
      [true, true, false, false],
      'that it is away, or broken, says nothing of the log',
    );
  });

  it('is demanded when a certificate is verified', async () => {
    const sample = await sampleLog(5);
    const certificate = await sample.certificate(2);
    const { verifier } = signer;
    const text = (checkpoint: string) => JSON.stringify({ ...certificate, checkpoint });
    const evidence = { key: sample.key, witnesses: [verifier.text] };
    assert.throws(
      () => verifyCertificate(text(certificate.checkpoint), evidence),
      /the witness witness\.example\.com has not cosigned the checkpoint/,
    );
    const own = createWitness({ signer, state: stateIn(state), logs: [readVerifierKey(sample.key)] });
    const { body } = await own(writeAddCheckpoint({ from: 0, proof: [], note: certificate.checkpoint }));
    const cosigned = text(certificate.checkpoint + body);
    const verified = verifyCertificate(cosigned, evidence);
    assert.match(
      statementOf(verified, evidence),
      /the witness witness\.example\.com cosigned that checkpoint at 20/,
    );
    const other = readWitnessSigner(newWitnessKey('witness.example.com')).verifier.text;
    assert.throws(() => verifyCertificate(cosigned, { witnesses: [other] }), /has not cosigned/);
    assert.throws(() => readWitnessKey(sample.key), /must read/);
  });
});
