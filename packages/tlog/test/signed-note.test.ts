import assert from 'node:assert/strict';
import { openCheckpoint, signCheckpoint } from '../src/checkpoint.js';
import { leafHash } from '../src/merkle-tree.js';
import {
  NoteError,
  newSigningKey,
  openNote,
  readSigningKey,
  readVerifierKey,
  signNote,
} from '../src/signed-note.js';

/** The example in the documentation of Go's `golang.org/x/mod/sumdb/note`. */
const GO = {
  signer: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

const origin = 'hooks.example.com/log';
const signer = readSigningKey(newSigningKey(origin));
const root = leafHash('root');

describe('a signed note', () => {
  it('has the keys, the signature and the text of the example in Go', () => {
    const signer = readSigningKey(GO.signer);
    assert.equal(signer.verifier.text, GO.verifier);
    const note = signNote(GO.text, [signer]);
    assert.equal(note, `${GO.text}\n${GO.signature}`);
    assert.equal(openNote(note, [readVerifierKey(GO.verifier)]).text, GO.text);
  });

  it('passes over signatures of others, and needs one of a known key', () => {
    const other = readSigningKey(newSigningKey('witness.example'));
    const note = signNote('text\n', [other, signer]);
    assert.deepEqual(openNote(note, [signer.verifier]).by, [signer.verifier]);
    assert.throws(() => openNote(signNote('text\n', [other]), [signer.verifier]), /not signed with the key/);
    assert.throws(() => openNote(signNote('text\n', [signer, signer]), [signer.verifier]), /two signatures/);
  });

  it('holds no control characters', () => {
    assert.throws(() => openNote(signNote('a\tb\n', [signer]), [signer.verifier]), /control characters/);
  });

  it('has keys that do not change unnoticed', () => {
    const text = signer.verifier.text;
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`;
      assert.throws(() => readVerifierKey(changed), NoteError, changed);
    }
    const key = newSigningKey(origin);
    assert.throws(() => readSigningKey(key.replace(origin, 'hooks.example.org/log')), /was altered/);
  });

  it('repeats no private key in an error', () => {
    const key = newSigningKey(origin);
    for (const wrong of [key.slice(0, -2), key.slice(8), key.replace('hooks', 'h ooks')]) {
      assert.throws(
        () => readSigningKey(wrong),
        (error: Error) => !error.message.includes(key.slice(-20, -2)),
      );
    }
  });

  it('has a signer whose name has neither spaces nor "+"', () => {
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b']) assert.throws(() => newSigningKey(name), NoteError);
  });
});

describe('a checkpoint', () => {
  it('names log, size and root, and opens with the key of the log', () => {
    const note = signCheckpoint(20_852_163, root, [signer]);
    assert.match(
      note,
      /^hooks\.example\.com\/log\n20852163\n[A-Za-z0-9+/]{43}=\n\n— hooks\.example\.com\/log [^ \n]+\n$/,
    );
    assert.deepEqual(openCheckpoint(note, [signer.verifier]), { origin, size: 20_852_163, root });
  });

  it('is refused when any bit of it is another', () => {
    const note = Buffer.from(signCheckpoint(5, root, [signer]));
    for (let bit = 0; bit < note.length * 8; bit += 1) {
      const changed = Buffer.from(note);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      assert.throws(() => openCheckpoint(changed.toString(), [signer.verifier]), NoteError, String(bit));
    }
  });

  it('is refused when another log, or nobody, has signed it, or it has no size', () => {
    const other = readSigningKey(newSigningKey('other.example/log'));
    const keys = [signer.verifier, other.verifier];
    const body = `${root.toString('base64')}\n`;
    assert.throws(
      () => openCheckpoint(signNote(`${origin}\n5\n${body}`, [other]), keys),
      /signed by another log/,
    );
    assert.throws(() => openCheckpoint(`${origin}\n5\n${body}`, keys), NoteError);
    for (const size of ['', '-1', '05', '1e3', '9007199254740993', '0x5'])
      assert.throws(
        () => openCheckpoint(signNote(`${origin}\n${size}\n${body}`, [signer]), keys),
        NoteError,
        size,
      );
  });
});
