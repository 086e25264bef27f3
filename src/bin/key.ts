import type { Settings } from '../config/schema.js';
import { parseKeyFilter } from '../domain/event/business-keys.js';
import { ACCOUNT_ATTRIBUTE } from '../domain/ledger/search-attributes.js';
import { connectDatabase } from '../models/database.js';
import { say } from './process/output.js';
import { requireSecretBox } from './process/secrets.js';
import { requireServers } from './process/server-settings.js';

/** Prints the query that finds an account's events with a business key in Temporal UI, where only the key's token is. */
export async function printKeyQuery(settings: Settings, accountId: string, text: string): Promise<void> {
  const key = parseKeyFilter(text);
  if (!key) throw new Error('Name the key as name:value, such as order_id:1001.');
  const database = await connectDatabase(requireServers(settings).mongodbUri, {
    box: requireSecretBox(settings),
  });
  try {
    if (!(await database.accounts.get(accountId))) throw new Error(`There is no account ${accountId}.`);
    const [token] = await database.keySecrets.tokensOf(accountId, [key]);
    say(`${ACCOUNT_ATTRIBUTE.name} = '${token}'`);
  } finally {
    await database.close();
  }
}
