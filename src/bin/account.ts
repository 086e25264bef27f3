import type { Settings } from '../config/schema.js';
import { ACCOUNT_SCOPES, OPERATOR_SCOPES, PLATFORM_SCOPES } from '../domain/access/api-key.js';
import { OPERATOR } from '../domain/change/change.js';
import { print } from './client/terminal.js';
import { requireSecretBox } from './process/secrets.js';
import { withDatabase } from './process/with-database.js';

/** Role of an account's first key. */
const KEYS = {
  account: ACCOUNT_SCOPES,
  /** Makes accounts of its own, and acts for them. */
  platform: PLATFORM_SCOPES,
  /** Manages all accounts, and acts for them. */
  operator: OPERATOR_SCOPES,
};

/** Creates an account with an API key. */
export function createAccount(
  settings: Settings,
  name: string,
  keyName: string,
  kind: keyof typeof KEYS = 'account',
): Promise<{ account_id: string; api_key: string }> {
  const options = () => ({
    box: requireSecretBox(settings),
    changesDays: settings.HOOKLINE_CHANGES_DAYS,
  });
  return withDatabase(settings, options, async ({ accounts, apiKeys }) => {
    const { id } = await accounts.create(name, OPERATOR);
    const { key } = await apiKeys.create(id, keyName, KEYS[kind], OPERATOR);
    return { account_id: id, api_key: key };
  });
}

/** {@link createAccount}, and prints the key. */
export async function printAccount(settings: Settings, name: string, kind: keyof typeof KEYS): Promise<void> {
  const { account_id, api_key } = await createAccount(settings, name, 'first key', kind);
  print(`Account ${account_id} (${name})`);
  print(`API key ${api_key}`);
  print('The key is shown this once: only its hash is kept.');
}
