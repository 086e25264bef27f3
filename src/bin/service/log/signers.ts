import { randomBytes } from 'node:crypto';
import { type NoteSigner, type NoteVerifier, readSigningKey } from '../../../../packages/tlog/src/index.js';
import type { Settings } from '../../../config/schema.js';
import type { Database } from '../../../models/database.js';

/** The keys in the settings; without them the one that the installation keeps, made at the first call. */
export function createLogSigners(
  { HOOKLINE_LOG_KEY: given, HOOKLINE_PUBLIC_URL: publicUrl }: Settings,
  { logKeys }: Database,
) {
  /** Signers of checkpoints. */
  const signers = once<readonly NoteSigner[]>(async () =>
    given ? given : [readSigningKey(await logKeys.obtain(nameOf(publicUrl)))],
  );
  /**
   * Verifiers of this log's checkpoints: those of the signing keys, and of the key that signed before the settings
   * named one.
   */
  const known = once<readonly NoteVerifier[]>(async () => {
    const former = given && (await logKeys.find());
    const all = [...(await signers()), ...(former ? [readSigningKey(former)] : [])];
    return all.map(({ verifier }) => verifier);
  });
  return { signers, known };
}

/** Asks once, and again only if that failed. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    answer.catch(() => {
      answer = undefined;
    });
    return answer;
  };
}

/** A name that no other log has: the host, as C2SP advises, and something random. */
function nameOf(publicUrl = 'https://hookline.local'): string {
  return `${new URL(publicUrl).host}/log/${randomBytes(4).toString('hex')}`;
}
