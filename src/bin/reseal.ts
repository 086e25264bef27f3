import type { Settings } from '../config/schema.js';
import { print } from './client/terminal.js';
import { requireBoxes } from './process/secrets.js';
import { withDatabase } from './process/with-database.js';

/**
 * Encrypts what is stored of secrets, and the data keys of payloads, with the first of the keys, and tags with it what
 * is recorded. It may run while the service does.
 */
export async function reseal(settings: Settings): Promise<void> {
  const options = () => ({ ...requireBoxes(settings), keysUri: settings.HOOKLINE_KEYS_MONGODB_URI });
  await withDatabase(settings, options, async (database) => {
    print(`Endpoints whose secrets were encrypted again: ${await database.endpoints.resealAll()}`);
    print(`Data keys of payloads that were wrapped again: ${await database.dataKeys.resealAll()}`);
    print(`Accounts whose business key secret was encrypted again: ${await database.keySecrets.resealAll()}`);
    await database.changes.collect();
    print(`Changes that were tagged again: ${await database.changes.audit.retagAll()}`);
    const { records, ends, scheduled, segments, sequences, dataKeys, privateInputs, replays } = database;
    let tagged = 0;
    for (const some of [records, ends, scheduled, segments, sequences, dataKeys, privateInputs, replays])
      tagged += await some.retagAll();
    print(`Records that were tagged again: ${tagged}`);
    print(`Keys of the log that were encrypted again: ${await database.logKeys.resealAll()}`);
  });
}
