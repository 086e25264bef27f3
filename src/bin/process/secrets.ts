import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/schema.js';
import { dataKeyBox, newSecretKey, parseSecretKeys, SecretBox } from '../../domain/access/secret-box.js';

/** What seals stored secrets. @throws Error that says how to get a key, where the settings name none */
export function requireSecretBox({ HOOKLINE_SECRET_KEYS: keys }: Settings): SecretBox {
  if (!keys) {
    throw new Error(
      'Set HOOKLINE_SECRET_KEYS: stored secrets are encrypted with it. "hookline secret-key" makes one; keep it apart from the database.',
    );
  }
  return new SecretBox(keys);
}

/** What seals stored secrets, and what wraps the data keys of payloads. @throws Error that says how to get a key */
export function requireBoxes(settings: Settings): { box: SecretBox; keyBox: SecretBox } {
  const box = requireSecretBox(settings);
  const { HOOKLINE_SECRET_KEYS: secretKeys, HOOKLINE_PAYLOAD_KEYS: payloadKeys } = settings;
  return {
    box,
    keyBox: secretKeys ? dataKeyBox(payloadKeys, secretKeys, settings.HOOKLINE_WRAPPING_KEYS) : box,
  };
}

/** What tags the list of erasures. Not a wrapping key: those are destroyed, and the list is read for as long as there are backups. */
export function requireTagBox(settings: Settings): SecretBox {
  return requireBoxes({ ...settings, HOOKLINE_WRAPPING_KEYS: undefined }).keyBox;
}

/**
 * A key of the development default's own: made at the first start, kept in the data folder, readable by its owner alone.
 *
 * @param file `secret.keys` or `payload.keys`
 */
export async function loadOrCreateKeys(
  dataDir: string,
  file: 'secret.keys' | 'payload.keys',
): Promise<Settings['HOOKLINE_SECRET_KEYS']> {
  const path = join(dataDir, file);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    await writeFile(path, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  await chmod(path, 0o600);
  return parseSecretKeys((await readFile(path, 'utf8')).trim());
}
