import { createKnowledge, createLedger, createStarter } from '../../../src/bin/service/ledger.js';
import { connectServers } from '../../../src/bin/service/servers.js';
import { loadSettings } from '../../../src/config/load.js';
import { parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { resourceName } from '../../../src/domain/change/change.js';
import { toTarget } from '../../../src/domain/delivery/recipients.js';

/**
 * A process that acts upon deliveries as the API does, and is killed before any of it is told how it ended: `done`
 * after the act, `begun` before it.
 *
 * Arguments: account, key, and `action:point:delivery` for each act.
 */
const [accountId = '', keyId = '', ...acts] = process.argv.slice(2);
const settings = loadSettings(process.env);
const servers = await connectServers(settings);
const { database } = servers;
const starter = createStarter(settings, servers, createKnowledge(settings, servers), undefined);
const { control } = createLedger(settings, servers, starter);
const by = keyId;

for (const one of acts) {
  const [action, point, id = ''] = one.split(':');
  const key = parseDeliveryId(id);
  if (!key) throw new Error(`no delivery: ${id}`);
  const { id: name } = await database.changes.announce(
    { actor: { type: 'api_key', id: keyId } },
    {
      account_id: accountId,
      resource: resourceName('delivery', id),
      action: action === 'cancel' ? 'cancelled' : 'resent',
    },
  );
  if (point === 'begun') continue;
  if (action === 'cancel') await control.act('cancel', accountId, key, { by }, name);
  else {
    const endpoint = await database.endpoints.get(accountId, key.endpoint_id);
    if (!endpoint) throw new Error('no endpoint');
    await control.resend(accountId, key, toTarget(endpoint), { by, act: name });
  }
}
process.kill(process.pid, 'SIGKILL');
