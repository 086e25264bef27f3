import { randomBytes } from 'node:crypto';
import type { Settings } from '../../../config/schema.js';
import { type NoteSigner, readSigningKey } from '../../../domain/log/signed-note.js';
import type { Database } from '../../../models/database.js';

/** What signs the checkpoints of the log. */
export type LogSigners = () => Promise<readonly NoteSigner[]>;

/** The keys in the settings; without them the one that the installation keeps, made at the first call. */
export function createLogSigners(
  { HOOKLINE_LOG_KEY: given, HOOKLINE_PUBLIC_URL: publicUrl }: Settings,
  { logKeys }: Database,
): LogSigners {
  let signers: Promise<readonly NoteSigner[]> | undefined = given && Promise.resolve(given);
  return () => {
    signers ??= logKeys.obtain(nameOf(publicUrl)).then((key) => [readSigningKey(key)]);
    signers.catch(() => {
      signers = undefined;
    });
    return signers;
  };
}

/** A name that no other log has: the host, as C2SP advises, and something random. */
function nameOf(publicUrl = 'https://hookline.local'): string {
  return `${new URL(publicUrl).host}/log/${randomBytes(4).toString('hex')}`;
}
