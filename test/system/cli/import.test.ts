import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import type { ApiClient } from '../../support/api-client.js';
import { folderOfEach } from '../../support/folder.js';
import { inProcess } from '../../support/programs/command.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

describe('hookline import', () => {
  const inFolder = folderOfEach();
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  async function run(words: string[], code = 0): Promise<string> {
    const { exited, lines } = inProcess(['import', ...words], {
      HOOKLINE_URL: system.url,
      HOOKLINE_API_KEY: client.key,
    });
    equal(await exited, code, lines.join('\n'));
    return lines.join('\n');
  }
  const list = async () => (await client.request('GET', '/v18.0/endpoints?limit=100')).json.data;

  it('moves endpoints of Svix, whose receivers verify with the secret and the names they have', async () => {
    const text = (await readFile('test/support/outside/lists/svix.json', 'utf8')).replaceAll(
      'https://example.com',
      receiver.url,
    );
    const file = inFolder('svix.json');
    await writeFile(file, text);

    match(await run(['svix', file], 1), /do not exist here yet: user\.signup, user\.deleted\./);
    match(await run(['svix', file, '--kind', 'user.signup=UserSignup'], 1), /Rename these.*: UserSignup/);
    const kinds = ['--kind', 'user.deleted=user.removed', '--create-kinds'];
    match(
      await run(['svix', file, '--dry-run', '--kind', 'user.signup=*', '--kind', 'user.deleted=*']),
      /^2 would be made/m,
    );
    match(await run(['svix', file, ...kinds, '--dry-run']), /^Event kind user\.signup: would be made\.$/m);
    deepEqual(await list(), []);
    const output = await run(['svix', file, ...kinds]);
    match(output, /^ep_1srOrx2ZWZBpBUvZwXKQmoEYga2 {2}made {2}ep_\w{26} {2}active/m);
    match(output, /^2 made, 0 imported before, 0 left out, 0 refused\.$/m);
    ok(!output.includes(SECRET));

    const [endpoint, paused] = await list();
    deepEqual(endpoint.event_kinds, ['user.signup', 'user.removed']);
    equal(paused.status, 'paused');
    await client.request('POST', `/v18.0/endpoints/${endpoint.id}/test`);
    const [request] = await receiver.waitFor((requests) => requests.length > 0);
    ok(request);
    const { headers, body } = request;
    const legacy = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('svix-') ? [[name.replace('svix-', 'webhook-'), value]] : [],
    );
    new Webhook(SECRET).verify(body, Object.fromEntries(legacy));
    equal(headers['x-example'], '123');

    match(await run(['svix', file, ...kinds]), /^0 made, 2 imported before/m);
    equal((await list()).length, 2);
  });

  it('makes what it can, says what was refused, and fails', async () => {
    const file = inFolder('outpost.json');
    const destination = (id: string, url: string) => ({
      id,
      type: 'webhook',
      topics: ['purchase'],
      config: { url },
    });
    await writeFile(
      file,
      JSON.stringify([
        destination('des_1', 'not-an-address'),
        destination('des_2', `${receiver.url}/two`),
        { ...destination('des_3', 'https://sqs.example.com'), type: 'aws_sqs' },
      ]),
    );
    const output = await run(['outpost', file], 1);
    match(output, /^des_1 {2}refused {2}.*\/target_url must be an absolute URL/m);
    match(output, /^des_2 {2}made {2}ep_/m);
    match(output, /^des_3 {2}left out {2}It is of the type aws_sqs/m);
    match(output, /^1 made, 0 imported before, 1 left out, 1 refused\.$/m);
  });

  it('says what is wrong with what it is given', async () => {
    const file = inFolder('list.json');
    await writeFile(file, '{"error":"unauthorized"}');
    match(await run(['svix', file], 1), /not a list of endpoints as the API of Svix gives it:?[\s\S]*id: /);
    await writeFile(file, '<html>');
    match(await run(['convoy', file], 1), /is not JSON/);
    match(await run(['convoy', inFolder('nowhere.json')], 1), /There is no file/);
    match(await run(['hook0', file], 1), /hookline import svix\|convoy\|outpost/);
    match(await run(['svix'], 1), /Say from where/);
  });
});
