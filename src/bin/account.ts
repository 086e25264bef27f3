import type { Settings } from '../config/schema.js';
import { ACCOUNT_SCOPES, OPERATOR_SCOPES, PLATFORM_SCOPES } from '../domain/access/api-key.js';
import { OPERATOR } from '../domain/change/change.js';
import { connectDatabase } from '../models/database.js';
import { say } from './process/output.js';
import { requireSecretBox } from './process/secrets.js';
import { requireServers } from './process/server-settings.js';

/** Whose key an account's first key is. */
const KEYS = {
  account: ACCOUNT_SCOPES,
  /** Makes accounts of its own, and acts for them. */
  platform: PLATFORM_SCOPES,
  /** Manages all accounts, and acts for them. */
  operator: OPERATOR_SCOPES,
};

/** Creates an account with an API key, and prints the key. */
export async function createAccount(
  settings: Settings,
  name: string,
  kind: keyof typeof KEYS,
): Promise<void> {
  const database = await connectDatabase(requireServers(settings).mongodbUri, {
    box: requireSecretBox(settings),
    changesDays: settings.HOOKLINE_CHANGES_DAYS,
  });
  try {
    const account = await database.accounts.create(name, OPERATOR);
    const { key } = await database.apiKeys.create(account.id, 'first key', KEYS[kind], OPERATOR);
    say(`Account ${account.id} (${name})`);
    say(`API key ${key}`);
    say('The key is shown this once: only its hash is kept.');
  } finally {
    await database.close();
  }
}
