import assert from 'node:assert/strict';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { sharedSystem } from '../../support/system.js';

interface Operation {
  parameters: { name: string; in: string }[];
}

/** ULIDs that have the form, with a time that nothing was made at: the last one there is, and the first. */
const ULIDS = ['7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '00000000000000000000000000'];
/** Prefixes of the ids of resources. */
const PREFIXES: Record<string, string> = {
  events: 'evt_',
  endpoints: 'ep_',
  listeners: 'ep_',
  changes: 'chg_',
  replays: 'rpl_',
  profiles: 'prof_',
  api_keys: 'key_',
  oauth_clients: 'client_',
  accounts: 'acct_',
  portal_sessions: 'ps_',
  erasures: 'ers_',
};
/** And of the same by the names of parameters. */
const NAMED: Record<string, string> = { endpoint_id: 'ep_', event_id: 'evt_' };

// Each operation is asked, and each parameter that can be an id: some seconds of requests.
describe('ids of impossible times [world]', () => {
  let client: ApiClient;
  let paths: [string, Record<string, Operation>][];

  before(async () => {
    const system = await sharedSystem();
    client = await system.account(OPERATOR_SCOPES);
    const document = await (await fetch(`${system.url}/openapi.json`)).json();
    paths = Object.entries((document as { paths: Record<string, Record<string, Operation>> }).paths);
  });

  const idOf = (resource: string, ulid: string) =>
    resource === 'deliveries' ? `dlv_${ulid}_${ulid}` : `${PREFIXES[resource] ?? ''}${ulid}`;

  /** Asks; notes an answer that says that something is wrong with the service. */
  async function faultsOf(method: string, path: string, body?: unknown): Promise<string[]> {
    const { status, text } = await client.request(method, path, body === undefined ? {} : { body });
    return status >= 500 ? [`${method} ${path}: ${status} ${text.slice(0, 200)}`] : [];
  }

  it('are not found in the path of any operation', async () => {
    const faults: string[] = [];
    for (const [path, methods] of paths)
      for (const method of Object.keys(methods))
        for (const ulid of path.includes('{') ? ULIDS : [])
          faults.push(
            ...(await faultsOf(
              method.toUpperCase(),
              path.replace(/(\w+)\/\{\w+\}/g, (_, resource: string) => `${resource}/${idOf(resource, ulid)}`),
            )),
          );
    assert.deepEqual(faults, []);
  });

  it('are found nothing by in the query of any operation', async () => {
    const faults: string[] = [];
    let asked = 0;
    for (const [path, methods] of paths)
      for (const [method, { parameters }] of Object.entries(methods))
        for (const { name } of parameters.filter((one) => one.in === 'query'))
          for (const ulid of ULIDS) {
            const values =
              name === 'after'
                ? [...Object.keys(PREFIXES), 'deliveries'].map((resource) => idOf(resource, ulid))
                : NAMED[name]
                  ? [`${NAMED[name]}${ulid}`]
                  : name === 'resource'
                    ? Object.keys(PREFIXES).map((resource) => idOf(resource, ulid))
                    : [];
            const whole = path.replace(
              /(\w+)\/\{\w+\}/g,
              (_, resource: string) => `${resource}/${idOf(resource, ulid)}`,
            );
            // What an operation cannot do without, with the parameter in question last: the one that counts.
            const others = path.endsWith('/explain')
              ? Object.entries(NAMED)
                  .filter(([other]) => other !== name)
                  .map(([other, prefix]) => `${other}=${prefix}${ulid}&`)
                  .join('')
              : path.endsWith('/exports')
                ? 'from=1970-01-01&'
                : '';
            for (const value of values) {
              asked += 1;
              faults.push(...(await faultsOf(method.toUpperCase(), `${whole}?${others}${name}=${value}`)));
            }
          }
    assert.deepEqual(faults, []);
    assert.ok(asked > 100, String(asked));
  });

  it('are found nothing by in a body', async () => {
    const faults: string[] = [];
    for (const ulid of ULIDS) {
      const ids = { endpoint_id: `ep_${ulid}`, event_id: `evt_${ulid}` };
      const missed = { endpoint_id: ids.endpoint_id, created_after: '2026-01-01T00:00:00Z' };
      faults.push(
        ...(await faultsOf('POST', '/v18.0/replays', { filter: ids, dry_run: true })),
        ...(await faultsOf('POST', '/v18.0/replays', { mode: 'missed', filter: missed, dry_run: true })),
        ...(await faultsOf('POST', '/v18.0/api_keys', {
          name: 'x',
          scopes: ['profile:read'],
          profile_id: `prof_${ulid}`,
        })),
      );
    }
    assert.deepEqual(faults, []);
  });
});
