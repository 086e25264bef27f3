import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { RELEASE } from '../../../src/domain/basics/release.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { inProcess } from '../../support/programs/command.js';
import { startCommand } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('the commands for users of the API', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  let endpointId: string;
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    receiver = await startReceiver();
    ({ id: endpointId } = await client.register(receiver.url, { retry_schedule: [] }));
  });
  after(() => receiver.close());

  /** Runs a command with nothing in its environment but the server and a key. */
  async function run(
    command: string,
    code = 0,
    environment: Record<string, string> = {},
    start: typeof inProcess | typeof startCommand = inProcess,
  ): Promise<string> {
    const { exited, lines } = start(command.split(' '), {
      HOOKLINE_URL: system.url,
      HOOKLINE_API_KEY: client.key,
      // Somebody may have run a server in this folder: its key is not looked for.
      HOOKLINE_DATA_DIR: 'no-such-folder',
      // A setting of the service that is not valid: none of these commands reads it.
      HOOKLINE_PORT: 'abc',
      ...environment,
    });
    equal(await exited, code, lines.join('\n'));
    return lines.join('\n');
  }
  /** An event kind that one endpoint gets, which has a long wait after its first attempt. */
  async function ownKind(): Promise<{ id: string; kind: string }> {
    const kind = `waits.n${Date.now()}`;
    await client.request('POST', '/v18.0/event_kinds', {
      body: { name: kind, description: 'Waits', schema: { type: 'object' } },
    });
    const { id } = await client.register(`${receiver.url}/waits`, {
      event_kinds: [kind],
      retry_schedule: ['1h'],
    });
    return { id, kind };
  }
  const json = async (command: string, code = 0) =>
    (await run(`${command} --json`, code)).split('\n').map((line) => JSON.parse(line));

  it('post the events of a file, as many as fit into each request', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-publish-'));
    const file = join(folder, 'events.ndjson');
    const line = `{"kind":"purchase","payload":${PURCHASE},"endpoint_ids":["${endpointId}"]}`;
    await writeFile(file, `${Array(103).fill(line).join('\n')}\n\n`);
    const ids = (await run(`publish ${file}`)).split('\n').map((one) => one.split('  ')[0]);
    equal(new Set(ids).size, 103);
    await writeFile(file, `${line}\n{"kind":"none","payload":1}\n`);
    match(
      await run(`publish ${file} --each`, 1),
      /^evt_\w+ .*\nEvent 2: There is no event kind.*\n.*1 of 2 events/s,
    );
    match(await run(`publish ${file}`, 1), /No event was accepted\. Event 1: There is no event kind/);
    // An event that is still on its way would get the response of the next test.
    await receiver.waitFor((all) => all.filter(({ over }) => over).length >= 104);
    await rm(folder, { recursive: true });
  });

  it('post an event, wait for its deliveries, and say how they ended', async () => {
    const output = await run('trigger purchase --set total=5 --set items.0.qty=3 --wait');
    match(
      output,
      /^evt_\w+ {2}purchase {2}1 delivery\n {2}ep_\w+ {2}delivered {2}The endpoint responded with 2xx\.$/,
    );
    const [id] = output.split('  ');
    const [sent] = receiver.received.filter(({ headers }) => headers['webhook-id'] === id);
    const payload = JSON.parse(sent?.body.toString() ?? '');
    deepEqual([payload.total, payload.items[0].qty], [5, 3]);

    receiver.handle(reply(500));
    const [event, delivery] = await json('trigger purchase --wait', 1);
    deepEqual([delivery.event_id, delivery.status], [event.id, 'exhausted']);
    receiver.handle(reply(200));
  });

  it('say what they wait for, and do not wait for what is parked, or for ever', async () => {
    const { id, kind } = await ownKind();
    const count = receiver.received.length;
    match(
      await run('trigger purchase --wait --timeout soon', 1),
      /--timeout must be a time such as 30s or 5m/,
    );
    equal(receiver.received.length, count);

    receiver.handle(reply(503));
    const { lines, exited } = inProcess(['trigger', kind, '--wait'], {
      HOOKLINE_URL: system.url,
      HOOKLINE_API_KEY: client.key,
    });
    const retrying = /^ {2}ep_\w+ {2}retrying {2}Attempt 1 got a 503 response/;
    await until(
      async () => lines.some((line) => retrying.test(line)),
      (isTold) => isTold,
    );
    receiver.handle(reply(200));
    const [{ id: waiting }] = (await client.request('GET', `/v18.0/deliveries?event_kind=${kind}`)).json.data;
    await client.request('POST', `/v18.0/deliveries/${waiting}/retry`, { body: {} });
    equal(await exited, 0);

    await run(`endpoints pause ${id}`);
    const parked = await run(`trigger ${kind} --wait`, 1);
    match(parked, /\n {2}ep_\w+ {2}parked {2}\S.*\nA parked delivery waits until/);
    const waited = await run(`trigger ${kind} --wait --while-parked --timeout 1s`, 1);
    match(waited, /\nhookline: After 1s, 1 of 1 deliveries have not ended:/);
  });

  it('schedule an event, list it, move it, and cancel it', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const keep = '--idempotency-key later --order-key o-1';
    const [event] = await json(`trigger purchase --deliver-at ${at} ${keep}`);
    const shown = await run(`trigger purchase --deliver-at ${at} ${keep}`);
    equal(shown, `${event.id}  purchase  scheduled for ${at}`);
    match(
      await run(`trigger purchase --deliver-at ${at} --idempotency-key later --order-key o-2`, 1),
      /used before with another body/,
    );
    match(await run('scheduled'), /^DELIVER AT +KIND +SCHEDULED EVENT\n(?:\S+ )?\S+ +purchase +sch_\w+$/);
    const later = new Date(Date.now() + 7_200_000).toISOString();
    equal(
      await run(`scheduled move ${event.id} --deliver-at ${later}`),
      `${event.id}  purchase  scheduled for ${later}`,
    );
    const [moved] = await json(`scheduled move ${event.id} --deliver-at ${at}`);
    deepEqual([moved.id, moved.deliver_at], [event.id, at]);
    match(await run(`scheduled move ${event.id}`, 1), /Say which scheduled event, and when it is sent/);
    match(await run(`scheduled move ${event.id} --deliver-at 2020-01-01`, 1), /deliver_at/);
    equal(await run(`scheduled cancel ${event.id}`), `Cancelled: ${event.id}`);
    equal(await run('scheduled'), 'No scheduled events.');
    match(await run('trigger purchase --deliver-at soon', 1), /--deliver-at must be a time such as/);
    match(await run(`trigger purchase --deliver-at ${at} --wait`, 1), /exclude each other/);
  });

  it('post a payload byte for byte, and say what is wrong with one', async () => {
    const compact = PURCHASE.replaceAll(' ', '');
    await run(`trigger purchase --data ${compact} --wait`);
    equal(receiver.received.at(-1)?.body.toString(), compact);
    const refused = await run('trigger purchase --data {"total":1}', 1);
    match(refused, /The payload is not valid for this kind:\n(.*\n)* {2}\/order_id is missing\n/);
    match(await run('trigger purchse', 1), /There is no event kind "purchse"\. There are: .*purchase/);
  });

  it('list deliveries, show one, its timeline and the reason, and send it again', async () => {
    receiver.handle(reply(404, {}, 'no such shop'));
    const [event] = await json('trigger purchase --wait', 1);
    receiver.handle(reply(200));
    // Lists know a moment later what the delivery shows.
    await until(
      () => run(`deliveries --event ${event.id}`),
      (table) =>
        /^ACCEPTED +STATUS +KIND +DELIVERY +REASON\n\S+ +exhausted +purchase +dlv_\w+ +\S/.test(table),
    );
    const id = event.deliveries[0].id;
    match(await run(`deliveries --event ${event.id} --last-status-code 404`), /\n\S+ +exhausted +purchase /);
    equal(await run(`deliveries --event ${event.id} --last-error-code timeout`), 'No deliveries.');
    match(
      await run('deliveries --last-status-code gone', 1),
      /must be an HTTP status such as 503, not "gone"/,
    );
    const [one, story, verdict] = await Promise.all([
      run(`deliveries ${id}`),
      run(`timeline ${id}`),
      run(`explain ${endpointId} ${event.id}`),
    ]);
    match(one, /^exhausted [\s\S]*\n1 +\S+ +\d+ ms +404 +no such shop$/);
    match(story, /accepted +Accepted: [\s\S]*attempt +Attempt 1 got a 404 response/);
    match(verdict, /^exhausted /);
    match(await run(`deliveries resend ${id} --reason fixed`), /^Sent again: dlv_/);
    equal((await client.deliveryUntil(id, ({ status }) => status === 'delivered')).status, 'delivered');
  });

  it('keep keys of several servers, and use the one that is chosen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-profiles-'));
    const without = { XDG_CONFIG_HOME: folder, HOOKLINE_API_KEY: '' };
    try {
      match(await run('profiles save here', 0, { XDG_CONFIG_HOME: folder }), /^Kept as here in /);
      await run('profiles save away', 0, { XDG_CONFIG_HOME: folder, HOOKLINE_URL: 'http://127.0.0.1:9' });
      equal((await stat(join(folder, 'hookline', 'profiles.json'))).mode & 0o777, 0o600);
      match(await run('whoami', 0, { ...without, HOOKLINE_URL: '' }), new RegExp(client.accountId));
      match(
        await run('whoami', 1, { ...without, HOOKLINE_PROFILE: 'away' }),
        /127\.0\.0\.1:9 did not respond/,
      );
      match(
        await run('whoami', 1, { ...without, HOOKLINE_PROFILE: 'x' }),
        /no profile "x"\. There are: here, away\./,
      );
      const both = await run('whoami', 1, { XDG_CONFIG_HOME: folder, HOOKLINE_PROFILE: 'away' });
      match(
        both,
        /names the profile away; not used: HOOKLINE_API_KEY, HOOKLINE_URL\.\n[\s\S]*:9 did not respond/,
      );
      await run('profiles remove here', 0, without);
      const listed = await run('profiles', 0, without);
      ok(
        !listed.includes(client.key) && /away +http:\/\/127\.0\.0\.1:9/.test(listed) && !listed.includes('*'),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('find the key of the server that "hookline dev" runs in this folder, and say so beside a chosen profile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-folder-'));
    const here = {
      HOOKLINE_URL: '',
      HOOKLINE_API_KEY: '',
      HOOKLINE_DATA_DIR: folder,
      XDG_CONFIG_HOME: folder,
    };
    const keep = (api_url: string) =>
      writeFile(join(folder, 'demo', 'state.json'), JSON.stringify({ api_url, api_key: client.key }));
    try {
      await mkdir(join(folder, 'demo'));
      match(await run('whoami', 1, here), /Set HOOKLINE_API_KEY/);
      await keep(system.url);
      const found = await run('whoami', 0, here);
      match(found, new RegExp(`^Server +${system.url}\n.*${client.accountId}`));
      match(await run('whoami', 1, { ...here, HOOKLINE_URL: 'http://127.0.0.1:9' }), /Set HOOKLINE_API_KEY/);
      await run('profiles save away', 0, { XDG_CONFIG_HOME: folder, HOOKLINE_URL: 'http://127.0.0.1:9' });
      const beside = await run('whoami', 0, here);
      match(
        beside,
        /^The server of "hookline dev" in this folder is used\. .* HOOKLINE_PROFILE=away\nServer/,
      );
      await run('profiles remove away', 0, here);
      await keep('https://hookline.example.com');
      match(await run('whoami', 1, here), /Set HOOKLINE_API_KEY/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('change endpoints', async () => {
    const paused = await run(`endpoints pause ${endpointId} --reason Stock-taking`);
    match(paused, /^paused {2}ep_\w+ {2}Stock-taking\n/);
    match(await run(`endpoints resume ${endpointId}`), /^active/);
    match(await run('endpoints --jsno', 1), /There is no option "--jsno"\. Did you mean "--json"\?/);
    match(
      await run('endpoints --colour red', 1),
      /no option "--colour"\. hookline endpoints --help lists them/,
    );
    const [list, [shown], keys, unknown] = await Promise.all([
      run('endpoints'),
      json(`endpoints show ${endpointId}`),
      run(`endpoints rotate ${endpointId} --overlap 1h`),
      run('endpoints paws', 1),
    ]);
    match(list, new RegExp(`\n${endpointId} +active +\\S* *purchase +${receiver.url}/`));
    equal(shown.status, 'active');
    match(keys, /^whsec_\S+\nThe previous one signs too until/);
    match(unknown, /There is no action "paws"; use one of: list, show/);
    match(await run(`endpoints rotate ${endpointId} --scheme v1a`), /^whpk_\S+\nThe previous one signs too/);
    match(await run(`endpoints rotate ${endpointId} --scheme v1`), /^whsec_/);
  });

  it('register an endpoint, and show its secret', async () => {
    const [made] = await json(`endpoints create ${receiver.url}/second --kinds order.* --description Second`);
    deepEqual([made.event_kinds, made.description], [['order.*'], 'Second']);
    const order = '--ordering key --skip exhausted --skip-after 1h';
    const [[ordered], shown, pair, incomplete] = await Promise.all([
      json(`endpoints create ${receiver.url}/ordered --kinds order.* ${order}`),
      run(`endpoints create ${receiver.url}/third --kinds order.*`),
      run(`endpoints create ${receiver.url}/pair --kinds order.* --scheme v1a`),
      run(`endpoints create ${receiver.url}/third`, 1),
    ]);
    match(shown, /^active {2}ep_\w+\nURL +\S+\/third\nKinds +order\.\*\nSecret +whsec_\S+$/);
    match(pair, /\nPublic key +whpk_\S+$/);
    match(incomplete, /Say where and what: hookline endpoints create/);
    deepEqual([ordered.ordering, ordered.order_skip, ordered.order_skip_after], ['key', 'exhausted', '1h']);
    match(await run(`endpoints ${ordered.id}`), /\nOrder +key, skip exhausted, skip after 1h$/);
  });

  it('list events and event kinds, and show one', async () => {
    const [event] = await json('trigger purchase');
    const [events, shown, kinds, kind, openapi, asyncapi, absent] = await Promise.all([
      run('events --kind purchase --limit 1'),
      run(`events ${event.id}`),
      run('kinds'),
      run('kinds show purchase'),
      run('kinds openapi'),
      run('kinds asyncapi'),
      run('events first', 1),
    ]);
    match(events, /^ACCEPTED +KIND +EVENT\n\S+ +purchase +evt_\w+$/);
    match(shown, new RegExp(`^Event +${event.id}\n[\\s\\S]*\ndlv_\\w+ +\\w+ +ep_\\w+\n[\\s\\S]*"order_id"`));
    match(kinds, /\npurchase +1 +\S/);
    match(kind, /^Kind +purchase\n[\s\S]*"type": "object"/);
    const documents = [JSON.parse(openapi).openapi, JSON.parse(asyncapi).asyncapi];
    match(documents.join(), /^3\.1\.\d,3\.\d\.\d$/);
    for (const document of [openapi, asyncapi]) match(document, /"purchase"/);
    match(absent, /"first" is neither an event's id nor one of/);
  });

  it('say whom a key stands for, make a narrower one, and revoke it', async () => {
    match(
      await run('whoami'),
      new RegExp(`^Server +${system.url}\nAccount +.*acct_\\w+\\)\nToken +api key `),
    );
    const [made] = await json('keys create website --scopes events:write,deliveries:read');
    deepEqual(made.scopes, ['events:write', 'deliveries:read']);
    const [listed, [own], unknown] = await Promise.all([
      run('keys'),
      run('whoami --json', 0, { HOOKLINE_API_KEY: made.key }).then((line) => [JSON.parse(line)]),
      run('keys create website --scopes everything', 1),
    ]);
    match(listed, new RegExp(`\n${made.id} +active +(\\S+ +)?website +events:write deliveries:read`));
    equal(own.id, made.id);
    match(unknown, /events:write/);
    equal(await run(`keys revoke ${made.id}`), `Revoked: ${made.id}`);
    match(await run('whoami', 1, { HOOKLINE_API_KEY: made.key }), /revoked/);
  });

  it('say the version, and which command was meant, and end with a code: as the program', async () => {
    const [version, meant, unknown, refused] = await Promise.all([
      run('--version', 0, {}, startCommand),
      run('endpoint', 2, {}, startCommand),
      run('frobnicate', 2),
      run('endpoints pause ep_absent', 1, {}, startCommand),
    ]);
    match(refused, /^hookline: .*ep_absent/);
    equal(version, RELEASE);
    match(meant, /there is no command "endpoint"\. Did you mean "endpoints"\?$/);
    match(unknown, /there is no command "frobnicate"\. hookline help lists them\.$/);
  });

  it('replay what failed, with a dry run first [world]', async () => {
    receiver.handle(reply(500));
    const [event] = await json('trigger purchase --wait', 1);
    receiver.handle(reply(200));
    await until(
      () => run(`replay --event ${event.id} --dry-run`),
      (said) => said.startsWith('1 delivery\n'),
    );
    const [replay] = await json(`replay --event ${event.id} --since 1h --rate 100`);
    deepEqual([replay.state, replay.done, replay.failed], ['finished', 1, 0]);
    match(await run(`replay ${replay.id}`), new RegExp(`^finished {2}${replay.id} {2}1 done`));
    const [nothing, never] = await Promise.all([run('replay', 1), run('replay --since 1x', 1)]);
    match(nothing, /Say what to send again/);
    match(never, /--since must be a time before now/);
  });

  it('act for an account of a platform', async () => {
    const platform = await system.account(PLATFORM_SCOPES);
    await platform.request('POST', '/v18.0/accounts', { body: { name: 'Shop', reference: 'customer-42' } });
    const key = { HOOKLINE_API_KEY: platform.key };
    match(await run('endpoints', 1, key), /Hookline-Account/);
    equal(await run('endpoints', 0, { ...key, HOOKLINE_ACCOUNT: 'customer-42' }), 'No endpoints.');
    const id = await run('accounts create Books --reference customer-43', 0, key);
    const [all, one] = await Promise.all([run('accounts', 0, key), run(`accounts ${id}`, 0, key)]);
    match(all, new RegExp(`\n${id} +active +\\S+ +customer-43 +Books(\n|$)`));
    match(one, new RegExp(`^Account +${id}\nName +Books\nReference +customer-43\nStatus +active\n`));
  });

  it('send no terminal codes of others, and no colours to a file', async () => {
    receiver.handle(reply(400, {}, '\u001b[31mno stock\u001b[0m\u0007'));
    const [event] = await json('trigger purchase --wait', 1);
    receiver.handle(reply(200));
    const output = await run(`deliveries ${event.deliveries[0].id}`, 0, { FORCE_COLOR: '1' });
    ok(!/\p{Cc}/u.test(output.replaceAll('\n', '')), JSON.stringify(output));
    match(output, /no stock/);
  });
});
