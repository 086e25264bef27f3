import type { Settings } from '../config/schema.js';
import { connectDatabase } from '../models/database.js';
import { say } from './process/output.js';
import { requireBoxes } from './process/secrets.js';
import { requireServers } from './process/server-settings.js';

/** Encrypts what is stored of secrets, and the data keys of payloads, with the first of the keys. It may run while the service does. */
export async function reseal(settings: Settings): Promise<void> {
  const { mongodbUri, keysUri } = requireServers(settings);
  const database = await connectDatabase(mongodbUri, { ...requireBoxes(settings), keysUri });
  try {
    say(`Endpoints whose secrets were encrypted again: ${await database.endpoints.resealAll()}`);
    say(`Data keys of payloads that were wrapped again: ${await database.dataKeys.resealAll()}`);
    say(`Accounts whose business key secret was encrypted again: ${await database.keySecrets.resealAll()}`);
    say(`Keys of the log that were encrypted again: ${await database.logKeys.resealAll()}`);
  } finally {
    await database.close();
  }
}
