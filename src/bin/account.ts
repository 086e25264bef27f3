import type { Settings } from '../config/schema.js';
import { ACCOUNT_SCOPES, SCOPES } from '../domain/access/api-key.js';
import { OPERATOR } from '../domain/change/change.js';
import { connectDatabase } from '../models/database.js';
import { say } from './process/output.js';
import { requireServers } from './process/server-settings.js';

/** Creates an account with an API key, and prints the key. @param operator whether the key may manage accounts, too */
export async function createAccount(settings: Settings, name: string, operator: boolean): Promise<void> {
  const database = await connectDatabase(requireServers(settings).mongodbUri, {
    changesDays: settings.HOOKLINE_CHANGES_DAYS,
  });
  try {
    const account = await database.accounts.create(name, OPERATOR);
    const { key } = await database.apiKeys.create(
      account.id,
      'first key',
      operator ? SCOPES : ACCOUNT_SCOPES,
      OPERATOR,
    );
    say(`Account ${account.id} (${name})`);
    say(`API key ${key}`);
    say('The key is shown this once: only its hash is kept.');
  } finally {
    await database.close();
  }
}
