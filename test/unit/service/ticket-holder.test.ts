import { equal } from 'node:assert/strict';
import { pino } from 'pino';
import { ticketHolder } from '../../../src/api/listeners/ticket-holder.js';
import { loadSettings } from '../../../src/config/load.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { Database } from '../../../src/models/database.js';

const [own, platform] = [newId('account'), newId('account')];
const PLATFORM = { id: platform, status: 'active' };
const OWN = { id: own, status: 'active', platform_id: platform };

/**
 * Whether a ticket for the account holds, by what the database knows of the key that it was given to, and of the
 * accounts.
 */
async function holds(key: object | undefined, accounts: { id: string; status: string }[] = [OWN, PLATFORM]) {
  const database = {
    apiKeys: {
      ofHash: async () =>
        key && { id: 'key_1', account_id: own, name: 'k', scopes: ['endpoints:write'], ...key },
      noteUse: async () => {},
    },
    accounts: { current: async (id: string) => accounts.find((account) => account.id === id) },
  } as unknown as Database;
  const credential = { type: 'api_key', token_hash: 'hash' } as const;
  const ticket = { id: 'ticket', account_id: own, endpoint_id: 'ep_1', credential };
  const holder = await ticketHolder(
    { database, settings: loadSettings({}), logger: pino({ level: 'silent' }) },
    ticket,
  );
  equal(holder?.caller.account_id ?? own, own);
  return holder !== undefined;
}

describe('a ticket holds as long as the token that it was given to would get another', () => {
  const other = { account_id: platform, scopes: ['endpoints:write', 'platform'] };
  const moved = [{ ...OWN, platform_id: newId('account') }, PLATFORM];
  const cases: [string, boolean, object | undefined, { id: string; status: string }[]?][] = [
    ['as it was', true, {}],
    ['it is unknown', false, undefined],
    ['it was revoked', false, { revoked_at: '2026-01-01T00:00:00Z' }],
    ['it has expired', false, { expires_at: '2026-01-01T00:00:00Z' }],
    ['it will expire', true, { expires_at: '2999-01-01T00:00:00Z' }],
    ['it has lost the scope', false, { scopes: ['endpoints:read'] }],
    ['its account is deleted', false, {}, [{ ...OWN, status: 'deleting' }]],
    ['it is the platform of the account', true, other],
    ['it is the platform of another account', false, other, moved],
    ['it is of another account', false, { account_id: platform }],
    ['its platform loses the scope', false, { ...other, scopes: ['platform'] }],
    ['the platform’s account is deleted', false, other, [{ ...OWN, status: 'deleting' }, PLATFORM]],
  ];
  for (const [what, expected, key, accounts] of cases)
    it(`${expected ? 'it holds' : 'it does not hold'}: ${what}`, async () =>
      equal(await holds(key, accounts), expected));
});
