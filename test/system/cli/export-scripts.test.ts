import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { convoy } from '../../../src/bin/client/import/convoy.js';
import type { Format } from '../../../src/bin/client/import/found.js';
import { outpost } from '../../../src/bin/client/import/outpost.js';
import { svix } from '../../../src/bin/client/import/svix.js';
import { folderOfEach } from '../../support/folder.js';

const PAGE = readFileSync('docs/tasks/coming-from.md', 'utf8');
const listOf = (name: string) => JSON.parse(readFileSync(`test/support/outside/lists/${name}.json`, 'utf8'));

/** Script that the page has for a service, as its reader pastes it, and the server that it asks. */
function scriptFor(service: string): { script: string; origin: string } {
  const [, script = ''] =
    PAGE.match(new RegExp(`### From ${service}\n[\\s\\S]*?\`\`\`sh\n([\\s\\S]*?)\`\`\``)) ?? [];
  const [origin = ''] = script.match(/https:\/\/[\w.]+/) ?? [];
  return { script, origin };
}

/** Responses of the API of each service, by path. */
const SERVED = {
  Svix: () => {
    const { data, ...page } = listOf('svix') as { data: Record<string, unknown>[] };
    const all = data.map(({ secret, headers, ...endpoint }) => ({ endpoint, secret, headers }));
    const path = '/api/v1/app/app_1/endpoint';
    return {
      [`${path}?limit=250`]: { ...page, data: all.map(({ endpoint }) => endpoint) },
      ...Object.fromEntries(
        all.flatMap(({ endpoint: { id }, secret, headers }) => [
          [`${path}/${id}/secret`, secret ?? { key: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }],
          [`${path}/${id}/headers`, headers ?? { headers: {}, sensitive: [] }],
        ]),
      ),
    };
  },
  Convoy: () => {
    const [endpoints, subscriptions] = listOf('convoy') as unknown[];
    const path = '/api/v1/projects/project_1';
    return {
      [`${path}/endpoints?perPage=1000`]: endpoints,
      [`${path}/subscriptions?perPage=1000`]: subscriptions,
    };
  },
  Outpost: () => ({ '/api/v1/tenants/acme/destinations': listOf('outpost') }),
};

const VARIABLES = {
  ...{ SVIX_APP: 'app_1', SVIX_TOKEN: 'token' },
  ...{ CONVOY_PROJECT: 'project_1', CONVOY_API_KEY: 'token' },
  ...{ TENANT: 'acme', OUTPOST_API_KEY: 'token' },
};

describe('the export scripts of the page about other services [world]', () => {
  const inFolder = folderOfEach();
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  /** Runs the script of a service in a shell, against a stand-in for its server. */
  async function exported(service: keyof typeof SERVED, variables: Partial<typeof VARIABLES> = {}) {
    const paths = new Map<string, unknown>(Object.entries(SERVED[service]()));
    const server = createServer(({ url = '', headers }, response) => {
      const found = paths.get(url);
      const status = headers.authorization !== 'Bearer token' ? 401 : found === undefined ? 404 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { script, origin } = scriptFor(service);
    ok(origin);
    const local = script.replaceAll(origin, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const env = { PATH: process.env['PATH'], ...VARIABLES, ...variables };
    return promisify(execFile)('sh', ['-c', local], { cwd: inFolder('.'), env });
  }
  const read = (format: Format, ...files: string[]) =>
    format.read(files.map((file) => JSON.parse(readFileSync(inFolder(file), 'utf8'))));

  before(async function () {
    await promisify(execFile)('sh', ['-c', 'command -v jq && command -v curl']).catch(() => this.skip());
  });

  it('give what the import of Svix reads, each endpoint with its secret and headers', async () => {
    await exported('Svix');
    const [first, second] = read(svix, 'endpoints.json');
    ok(first && second && 'body' in first && 'body' in second);
    deepEqual(first, svix.read([listOf('svix')])[0]);
    equal(second.body.secret, 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD');
  });

  it('give what the import of Convoy reads, endpoints and subscriptions', async () => {
    await exported('Convoy');
    deepEqual(read(convoy, 'endpoints.json', 'subscriptions.json'), convoy.read(listOf('convoy')));
  });

  it('give what the import of Outpost reads', async () => {
    await exported('Outpost');
    deepEqual(read(outpost, 'endpoints.json'), outpost.read([listOf('outpost')]));
  });

  it('say why if the key is refused', async () => {
    for (const service of ['Svix', 'Convoy', 'Outpost'] as const) {
      const refused = { SVIX_TOKEN: 'another', CONVOY_API_KEY: 'another', OUTPOST_API_KEY: 'another' };
      const { stderr } = await exported(service, refused).catch((error: { stderr: string }) => error);
      ok(stderr.includes('401'), service);
    }
  });
});
