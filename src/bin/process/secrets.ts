import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/schema.js';
import { dataKeyBox, newSecretKey, parseSecretKeys, SecretBox } from '../../domain/access/secret-box.js';

/** @throws Error that says how to get a key, where the settings name none */
function requireKeys({ HOOKLINE_SECRET_KEYS: keys }: Settings): NonNullable<typeof keys> {
  if (!keys) {
    throw new Error(
      'Set HOOKLINE_SECRET_KEYS: stored secrets are encrypted with it. "hookline secret-key" makes one; keep it apart from the database.',
    );
  }
  return keys;
}

/** Box that seals stored secrets. @throws Error that says how to get a key */
export function requireSecretBox(settings: Settings): SecretBox {
  return new SecretBox(requireKeys(settings));
}

/** Boxes that seal stored secrets, and that wrap the data keys of payloads. @throws Error that says how to get a key */
export function requireBoxes(settings: Settings): { box: SecretBox; keyBox: SecretBox } {
  const keys = requireKeys(settings);
  const keyBox = dataKeyBox(settings.HOOKLINE_PAYLOAD_KEYS, keys, settings.HOOKLINE_WRAPPING_KEYS);
  return { box: new SecretBox(keys), keyBox };
}

/**
 * Box that tags the list of erasures. Not a wrapping key: those are destroyed, and the list is read for as long as
 * there are backups.
 */
export function requireTagBox(settings: Settings): SecretBox {
  return requireBoxes({ ...settings, HOOKLINE_WRAPPING_KEYS: undefined }).keyBox;
}

/**
 * A key of the development default's own: made at the first start, kept in the data folder, readable by its owner
 * alone.
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
