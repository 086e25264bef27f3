import { parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { connectDatabase } from '../../../src/models/database.js';

/**
 * A process that changes an endpoint and is killed while the change is being recorded: `before` it is in the collection of changes, or
 * `after` that, before it is taken out of the endpoint's document.
 */
const [uri = '', keys = '', accountId = '', endpointId = '', act, point] = process.argv.slice(2);
const { endpoints, changes } = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(keys)) });

const keep = changes.keep.bind(changes);
changes.keep = async (records) => {
  if (point === 'after') await keep(records);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
};

const input = {
  target_url: 'https://subscriber.example/',
  event_kinds: ['purchase'],
  description: '',
  metadata: {},
  headers: {},
  verification_method: 'challenge' as const,
};
if (act === 'create') {
  await endpoints.create(accountId, { ...input, status: 'active', status_when_verified: 'active' }, OPERATOR);
} else if (act === 'change') {
  const before = await endpoints.getFresh(accountId, endpointId);
  if (before)
    await endpoints.replace(before, { ...input, status: 'paused', status_when_verified: 'paused' }, OPERATOR);
} else {
  await endpoints.delete(accountId, endpointId, OPERATOR);
}
process.exit(1);
