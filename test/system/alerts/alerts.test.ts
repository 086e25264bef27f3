import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict';
import { createMailSender } from '../../../activities/alert/mail.js';
import { createSendAlerts } from '../../../activities/alert/send-alerts.js';
import type { EndpointForAttempt } from '../../../activities/endpoint/endpoint-directory.js';
import type { AlertMessage } from '../../../src/domain/alert/alert-text.js';
import { alertsWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { ApiClient } from '../../support/api-client.js';
import { fetchHistory, toJson } from '../../support/history.js';
import { type MailServer, startMailServer } from '../../support/outside/mail-server.js';
import { runHere } from '../../support/programs/command.js';
import { inTurn, type Receiver, reply, startReceiver, testAuthority } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const PASSWORD = 'p@ss:w0rd/7f3a';
const HOOK = '/services/T00/B00/c5d1e9';
const INTERVAL_MS = 2_000;
const CHANNELS = ['mail', 'chat'] as const;

describe('alerts for people', () => {
  let mail: MailServer;
  let chat: Receiver;
  let endpoint: Receiver;
  let system: TestSystem;
  let client: ApiClient;
  /** Runs of the channels' workflows, as the first test leaves them. */
  const firstRuns = new Map<string, string>();
  const handleOf = (channel: (typeof CHANNELS)[number]) =>
    system.temporal.client.workflow.getHandle(alertsWorkflowId(system.settings.HOOKLINE_TASK_QUEUE, channel));

  before(async () => {
    mail = await startMailServer('hookline', PASSWORD);
    [chat, endpoint] = await Promise.all([startReceiver(), startReceiver()]);
    system = await startSystem({
      HOOKLINE_RETRY_SCHEDULE: '1h',
      HOOKLINE_SMTP_URL: `smtp://hookline:${encodeURIComponent(PASSWORD)}@localhost:${mail.port}`,
      HOOKLINE_ALERT_MAIL_FROM: 'Hookline <hookline@example.com>',
      HOOKLINE_ALERT_MAIL_TO: 'ops@example.com, night@example.com',
      HOOKLINE_ALERT_CHAT_URL: `${chat.url}${HOOK}`,
      HOOKLINE_ALERT_AFTER: '0s',
      HOOKLINE_ALERT_INTERVAL: `${INTERVAL_MS}ms`,
    });
    client = await system.account();
  });
  after(async () => {
    await system.stop();
    await Promise.all([mail.close(), chat.close(), endpoint.close()]);
  });

  it('come by mail and chat when an endpoint is disabled, each once, though both servers refuse at first', async () => {
    mail.refuse(1);
    let refusals = 1;
    chat.handle((request, response, body) =>
      (refusals-- > 0 ? reply(503, { 'retry-after': '1' }) : reply(200))(request, response, body),
    );
    endpoint.handle(reply(410));
    const { id } = await client.register(`${endpoint.url}/hooks?token=s3cret`);
    await client.purchase();

    const host = new URL(endpoint.url).host;
    const [taken] = await mail.waitFor(1);
    deepEqual(
      [taken?.from, taken?.to, taken?.secure],
      ['hookline@example.com', ['ops@example.com', 'night@example.com'], true],
    );
    match(taken?.source ?? '', new RegExp(`^Subject: Hookline: ${host} was disabled\r$`, 'm'));
    match(taken?.source ?? '', /^Message-ID: <evt_\w+\.1@example\.com>\r$/im);
    match(taken?.source ?? '', /^Auto-Submitted: auto-generated\r$/im);
    ok(taken?.source.includes(id) && taken.source.includes(client.accountId));
    doesNotMatch(taken?.source ?? '', /s3cret|\/hooks/);

    const [refused, posted] = await chat.waitFor((received) => received.length >= 2);
    equal(posted?.path, HOOK);
    match(
      JSON.parse(posted?.body.toString() ?? '').text,
      new RegExp(`^Hookline: ${host} was disabled\n\n${host} was disabled at `),
    );
    ok((posted?.at.getTime() ?? 0) - (refused?.at.getTime() ?? 0) >= 1_000, 'waits as Retry-After says');
    for (const channel of CHANNELS) firstRuns.set(channel, (await handleOf(channel).describe()).runId);
  });

  it('come together if there are many [world]', async () => {
    const before = mail.received.length;
    const receivers = await Promise.all([1, 2, 3, 4].map(() => startReceiver({ handler: reply(410) })));
    await Promise.all(receivers.map(({ url }) => client.register(url)));
    await client.purchase();
    const all = () =>
      mail.received
        .slice(before)
        .map(({ source }) => source)
        .join();
    await until(all, (text) =>
      receivers.every(({ url }) => text.includes(`${new URL(url).host} was disabled at`)),
    );
    const messages = mail.received.length - before;
    ok(messages < receivers.length, `${messages} messages`);
    for (const { url } of receivers) equal(all().split(`${new URL(url).host} was disabled at`).length, 2);
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  it('come when an endpoint is failing, and when it has recovered', async () => {
    const before = chat.received.length;
    endpoint.handle(inTurn(reply(500), reply(200)));
    await client.register(endpoint.url);
    const [delivery] = (await client.purchase()).deliveries.slice(-1);
    const texts = () =>
      chat.received
        .slice(before)
        .map(({ body }) => JSON.parse(body.toString()).text)
        .join('\n');
    await until(texts, (text) => text.includes('Last attempt: got a 500 response.'));
    await client.request('POST', `/v18.0/deliveries/${delivery?.id}/retry`);
    await until(texts, (text) => text.includes('has recovered at'));
  });

  it('leave no secret in a history, and their workflows end when nothing is left', async () => {
    for (const channel of CHANNELS) {
      const { workflowId, runId } = await until(
        () => handleOf(channel).describe(),
        ({ status }) => status.name === 'COMPLETED',
      );
      // One run, unless more time went by between two tests than it waits for more.
      const runs = [...new Set([firstRuns.get(channel), runId])];
      const histories = await Promise.all(runs.map((run) => fetchHistory(system, workflowId, run)));
      const history = histories.map(toJson).join();
      const plain =
        Buffer.from(history).toString() +
        [...history.matchAll(/"data": "([^"]+)"/g)]
          .map(([, data = '']) => Buffer.from(data, 'base64').toString())
          .join();
      match(plain, /endpoint\.disabled/);
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'c5d1e9', 's3cret'])
        ok(!plain.includes(secret), secret);
    }
  });

  it('say nothing of an endpoint that is failing no more', async () => {
    const sent: AlertMessage[] = [];
    const load = async (_account: string, id: string) =>
      (id === 'ep_failing'
        ? { failing: { since: '2026-11-21T12:00:00Z' } }
        : id === 'ep_paused'
          ? {}
          : undefined) as EndpointForAttempt | undefined;
    const sendAlerts = createSendAlerts({
      alerts: { chat: async (message) => void sent.push(message) },
      endpoints: { load },
    });
    const alert = (endpoint_id: string) => ({
      ...{ id: 'evt_1', kind: 'endpoint.failing', at: '2026-11-21T12:00:00Z', account_id: 'acct_1' },
      endpoint_id,
    });
    const alerts = ['ep_paused', 'ep_failing', 'ep_deleted'].map(alert);
    await sendAlerts({ channel: 'chat', alerts, left_out: 0 });
    deepEqual(
      sent.map(({ subject }) => subject),
      ['Hookline: ep_failing is failing'],
    );
    await sendAlerts({ channel: 'chat', alerts: [alert('ep_paused')], left_out: 0 });
    equal(sent.length, 1);
  });

  it('can be tried on the command line', async () => {
    const before = mail.received.length;
    equal(await runHere('test-alert', system.environment), 'mail: sent.\nchat: sent.');
    match(mail.received[before]?.source ?? '', /^Subject: Hookline: a test\r$/m);
    const wrong = {
      ...system.environment,
      HOOKLINE_SMTP_URL: `smtp://hookline:wr0ng@localhost:${mail.port}`,
    };
    await rejects(runHere('test-alert', wrong), ({ stderr }: Error & { stderr: string }) => {
      equal(stderr, 'hookline: The mail server did not take the message (EAUTH, 535, AUTH PLAIN).\n');
      return true;
    });
  });

  it('send no password without TLS, and say nothing secret when they fail', async () => {
    const { cert } = await testAuthority();
    const plain = await startMailServer('hookline', PASSWORD, { hasTls: false });
    const send = (password: string, ca?: string[], { port } = mail) =>
      createMailSender({
        smtpUrl: `smtp://hookline:${password}@localhost:${port}`,
        from: 'hookline@example.com',
        to: ['ops@example.com'],
        ca,
      })({ subject: 'x', text: 'x' }, 'id');
    await rejects(send('wr0ng', [cert]), ({ message }: Error) => {
      match(message, /^The mail server did not take the message \(EAUTH, 535, AUTH PLAIN\)\.$/);
      return true;
    });
    await rejects(send(encodeURIComponent(PASSWORD), [cert], plain), /did not take the message \(ETLS/);
    equal(plain.logins, 0);
    await plain.close();
    // A certificate that nobody vouches for is not trusted.
    await rejects(send(encodeURIComponent(PASSWORD)), /^Error: The mail server did not take the message/);
  });
});
