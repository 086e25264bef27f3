import { once } from 'node:events';
import WebSocket from 'ws';
import { ACCOUNT_SCOPES } from '../../../src/domain/access/api-key.js';
import { purchase } from '../../support/load.js';
import { until } from '../../support/until.js';
import type { Hostile, Probe } from '../attack.js';
import { openStream } from './streams.js';

const said = (holds: boolean, text: string) => (holds ? text : `FAILED: ${text}`);
const idOf = ({ text }: { text: string }) => (JSON.parse(text) as { id: string }).id;
const endpoint = { target_url: 'https://x.example.com/', event_kinds: ['purchase'] };

/**
 * Time for which an attacker may still read after its access has ended: more than the 5 seconds that a revocation
 * takes, milliseconds.
 */
const REVOKED_WITHIN_MS = 15_000;

export const nestedSchema: Probe = {
  name: 'nested-schema',
  about: 'a schema of 8,000 nested `not` is refused',
  async run({ account }) {
    const schema = `${'{"not":'.repeat(8_000)}{}${'}'.repeat(8_000)}`;
    const body = `{"name":"nested","description":"","schema":${schema}}`;
    const { status } = await (await account()).request('POST', '/v18.0/event_kinds', body);
    return said(status === 400, `answered ${status}, should be 400`);
  },
};

export const endpointLimit: Probe = {
  name: 'endpoint-limit',
  about: 'five that register at once do not pass the limit of endpoints',
  async run({ account }) {
    const most = 20;
    const hostile = await account({ limits: { max_endpoints: most } });
    const create = async () => {
      for (let at = 0; at < most; at += 1) await hostile.request('POST', '/v18.0/endpoints', endpoint);
    };
    await Promise.all([1, 2, 3, 4, 5].map(create));
    const { text } = await hostile.request('GET', '/v18.0/endpoints?limit=100');
    const count = (JSON.parse(text) as { data: unknown[] }).data.length;
    return said(count === most, `${count} endpoints of ${most}`);
  },
};

export const erasures: Probe = {
  name: 'erasures',
  about: 'twenty erasures of one subject at once make one certificate',
  async run({ account }) {
    const hostile = await account({ scopes: [...ACCOUNT_SCOPES, 'subjects:write'] });
    await hostile.request('POST', '/v18.0/events/purchase', purchase('erased'));
    const body = { subject: 'ada@example.com' };
    const all = await Promise.all(
      Array.from({ length: 20 }, () => hostile.request('POST', '/v18.0/subjects/erase', body)),
    );
    const ids = new Set(all.filter(({ status }) => status === 200 || status === 202).map(idOf));
    const { text } = await hostile.request('GET', '/v18.0/erasures?limit=100');
    const count = (JSON.parse(text) as { data?: unknown[] }).data?.length ?? 0;
    return said(ids.size === 1 && count === 1, `${count} certificates, ${ids.size} ids answered`);
  },
};

export const revokedStream: Probe = {
  name: 'revoked-stream',
  about: 'a stream and a ticket end with the portal session that made them',
  async run({ account }) {
    const owner = await account();
    const made = await owner.request('POST', `/v18.0/accounts/${owner.id}/portal_sessions`, {});
    const session = JSON.parse(made.text) as { id: string; token: string };
    const asSession = { authorization: `Bearer ${session.token}` };
    const listener = await owner.request(
      'POST',
      '/v18.0/listeners',
      { event_kinds: ['purchase'] },
      asSession,
    );
    const id = idOf(listener);
    const ticket = async () =>
      (
        JSON.parse((await owner.request('POST', `/v18.0/listeners/${id}/tickets`, '', asSession)).text) as {
          ticket: string;
        }
      ).ticket;
    const [first, second] = [await ticket(), await ticket()];
    const socket = openStream(owner.url, id, first);
    socket.on('error', () => {});
    await once(socket, 'open');
    await owner.request('DELETE', `/v18.0/accounts/${owner.id}/portal_sessions/${session.id}`);
    const isClosed = await until(() => socket.readyState === WebSocket.CLOSED, REVOKED_WITHIN_MS).then(
      () => true,
      () => false,
    );
    const opened = await opens(owner, id, second);
    socket.terminate();
    return said(
      isClosed && !opened,
      `the stream was ${isClosed ? 'closed' : 'still open'}, the ticket ${opened ? 'opened another' : 'opened none'}`,
    );
  },
};

function opens({ url }: Hostile, id: string, ticket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = openStream(url, id, ticket);
    socket.once('open', () => {
      socket.terminate();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

export const narrowKey: Probe = {
  name: 'narrow-key',
  about: 'a key with keys:write alone revokes no key of wider scope',
  async run({ account }) {
    const owner = await account();
    const create = async (scopes: string[]) =>
      JSON.parse((await owner.request('POST', '/v18.0/api_keys', { name: 'k', scopes })).text) as {
        id: string;
        key: string;
      };
    const wide = await create(['events:write', 'endpoints:write']);
    const narrow = await create(['keys:write']);
    const asNarrow = { authorization: `Bearer ${narrow.key}` };
    const { status } = await owner.request('DELETE', `/v18.0/api_keys/${wide.id}`, undefined, asNarrow);
    return said(status === 403, `answered ${status}, should be 403`);
  },
};
