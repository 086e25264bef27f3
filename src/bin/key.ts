import type { Settings } from '../config/schema.js';
import { parseKeyFilter } from '../domain/event/business-keys.js';
import { ACCOUNT_ATTRIBUTE } from '../domain/ledger/search-attributes.js';
import { print } from './client/terminal.js';
import { requireSecretBox } from './process/secrets.js';
import { withDatabase } from './process/with-database.js';

/**
 * Prints the query that finds an account's events with a business key in Temporal UI, where only the key's token is.
 */
export async function printKeyQuery(settings: Settings, accountId: string, text: string): Promise<void> {
  const key = parseKeyFilter(text);
  if (!key) throw new Error('Name the key as name:value, such as order_id:1001.');
  await withDatabase(
    settings,
    () => ({ box: requireSecretBox(settings) }),
    async ({ accounts, keySecrets }) => {
      if (!(await accounts.get(accountId))) throw new Error(`There is no account ${accountId}.`);
      const [token] = await keySecrets.tokensOf(accountId, [key]);
      print(`${ACCOUNT_ATTRIBUTE.name} = '${token}'`);
    },
  );
}
