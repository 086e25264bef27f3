import { readSigningKey } from '../../../packages/tlog/src/index.js';
import { connectDatabase } from '../../../src/models/database.js';

/**
 * A process that appends to a log until it is killed, and says where each batch went:
 * `node append-leaves.ts <mongodb-uri> <name> <key>`.
 */
const [, , uri = '', name = '', key = ''] = process.argv;
const { log } = await connectDatabase(uri);
const signers = [readSigningKey(key)];
for (let batch = 0; ; batch += 1) {
  const records = Array.from({ length: 300 }, (_, at) => `${name} ${batch} ${at}`);
  const numbers = await log.append(records);
  process.stdout.write(`${JSON.stringify({ records, numbers })}\n`);
  await log.publish(signers);
}
