import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { Change } from '../../../src/domain/change/change.js';
import type { VerdictCode } from '../../../src/domain/explain/verdict.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { forget, runRecords } from '../../support/parts/records.js';
import { inProcess } from '../../support/programs/command.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import {
  IMPATIENT,
  SHORT_WAITS,
  startSystem,
  type TestSystem,
  UNTIL_DISABLED,
} from '../../support/system.js';
import { until } from '../../support/until.js';

const SLOW_MS = 600;
const ENDPOINTS = ['ok', 'slow', 'gone', 'failing', 'large', 'paused'] as const;
type Name = (typeof ENDPOINTS)[number];

/**
 * Questions of an auditor (docs/tasks/audit.md), in a system of its own, whose records are altered. Each question is
 * asked of the API and of a command.
 */
describe('the questions of an auditor', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let stranger: ApiClient;
  let mongo: mongoose.mongo.MongoClient;
  let eventId: string;
  let later: string;
  const endpoints = {} as Record<Name, string>;
  const deliveries = {} as Record<Name, string>;

  before(async () => {
    system = await startSystem({
      ...SHORT_WAITS,
      ...IMPATIENT,
    });
    mongo = await mongoose.mongo.MongoClient.connect(system.environment['MONGODB_URI'] ?? '');
    receiver = await startReceiver({
      async handler(request, response) {
        if (request.url === '/slow') await delay(SLOW_MS);
        const status = { '/gone': 410, '/failing': 503 }[request.url ?? ''] ?? 200;
        response.writeHead(status).end('thanks');
      },
    });
    client = await system.account();
    stranger = await system.account();
    const more: Partial<Record<Name, Record<string, unknown>>> = {
      failing: UNTIL_DISABLED,
      large: { filter: { path: '/total', at_least: 100 } },
    };
    for (const name of ENDPOINTS)
      endpoints[name] = (await client.register(`${receiver.url}/${name}`, more[name])).id;
    await client.request('POST', `/v18.0/endpoints/${endpoints.paused}/pause`);
    await client.request('POST', `/v18.0/endpoints/${endpoints.ok}/secret/rotate`, {
      body: { overlap: '1h' },
    });
    const event = await client.purchase();
    eventId = event.id;
    for (const { id, endpoint_id } of event.deliveries)
      for (const name of ENDPOINTS) if (endpoints[name] === endpoint_id) deliveries[name] = id;
    for (const name of ['ok', 'slow'] as const)
      await client.deliveryUntil(deliveries[name], ({ status }) => status === 'delivered');
    for (const name of ['gone', 'failing'] as const)
      await until(
        async () => (await client.request('GET', `/v18.0/endpoints/${endpoints[name]}`)).json.status,
        (status) => status === 'disabled',
      );
    later = (await client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), total: 500 }))).id;
    await until(
      () => readAll<{ status: string }>(client, `/v18.0/deliveries?event_id=${later}`),
      (rows) => rows.length === 6 && rows.every(({ status }) => status !== 'delivering'),
    );
  });
  after(async () => {
    await mongo.close();
    await system.stop();
    await receiver.close();
  });

  const get = async (path: string, by = client) => {
    const { status, json, text } = await by.request('GET', `/v18.0${path}`);
    assert.equal(status, 200, text);
    return json;
  };
  /** Output of a command, a JSON text on each line. */
  const ask = async (command: string, code = 0) => {
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const { exited, lines } = inProcess(`${command} --json`.split(' '), environment);
    assert.equal(await exited, code, lines.join('\n'));
    return lines.map((line) => JSON.parse(line));
  };

  it('who disabled this endpoint, from where, because of which delivery?', async () => {
    const path = (name: Name) => `/changes?resource=endpoint:${endpoints[name]}&action=disabled`;
    const [gone]: Change[] = (await get(path('gone'))).data;
    assert.deepEqual(gone?.actor, { type: 'subscriber', id: 'subscriber' });
    assert.match(gone?.address ?? '', /^(127\.0\.0\.1|::1)$/);
    assert.deepEqual(gone?.caused_by, { delivery_id: deliveries.gone, attempt: 1 });
    assert.deepEqual(await ask(`changes --endpoint ${endpoints.gone} --action disabled`), [gone]);

    const [failing]: Change[] = (await get(path('failing'))).data;
    assert.deepEqual(failing?.actor, { type: 'system', id: 'incident' });
    const { delivery_id, attempt = 0 } = failing?.caused_by ?? {};
    assert.equal(delivery_id, deliveries.failing);
    assert.ok(attempt > 1 && (await client.delivery(deliveries.failing)).attempts.length >= attempt);
    assert.deepEqual((await get(path('ok'))).data, []);
  });

  it('which attempts went elsewhere, took long, or ended so?', async () => {
    const longer = SLOW_MS - 50;
    const slow = await ask(`attempts --longer-than ${longer}ms --event ${eventId}`);
    // On a busy machine others may take as long.
    const took = (await Promise.all(Object.values(deliveries).map((id) => client.delivery(id)))).flatMap(
      ({ id, attempts }) =>
        attempts.filter(({ duration_ms }) => duration_ms > longer).map(({ number }) => `${id} ${number}`),
    );
    assert.deepEqual(slow.map(({ delivery_id, number }) => `${delivery_id} ${number}`).sort(), took.sort());
    assert.ok(took.includes(`${deliveries.slow} 1`));
    const failed = await ask('attempts --status-code 503 --limit 2');
    assert.deepEqual(
      failed.map(({ delivery_id, number }) => [delivery_id, number]),
      [
        [deliveries.failing, 1],
        [deliveries.failing, 2],
      ],
    );
    assert.deepEqual(await ask('attempts --outside 127.0.0.0/8,::1'), []);
    const [row] = (await get(`/deliveries?any_attempt_not_address=10.0.0.0/8&endpoint_id=${endpoints.gone}`))
      .data;
    assert.equal(row.matching_attempts[0].status_code, 410);
  });

  it('at which URL, with which version of the endpoint and of its secret, was it attempted?', async () => {
    const [attempt] = (await get(`/deliveries/${deliveries.ok}`)).attempts;
    assert.equal(attempt.url, `${receiver.url}/ok`);
    assert.deepEqual([attempt.endpoint_version, attempt.secret_versions], [2, [2, 1]]);
    const [other] = (await get(`/deliveries/${deliveries.slow}`)).attempts;
    assert.deepEqual([other.endpoint_version, other.secret_versions], [1, [1]]);
  });

  it('what did this endpoint not get, and why? [world]', async () => {
    const missed = async (name: Name, more = '', by = client): Promise<[VerdictCode, string][]> => {
      const path = `/v18.0/endpoints/${endpoints[name]}/missed?created_after=2020-01-01${more}`;
      const rows = await readAll<{ id: string }>(by, path);
      return (rows as unknown as { code: VerdictCode; event: { id: string; kind: string } }[])
        .filter(({ event }) => event.kind === 'purchase')
        .map(({ code, event }): [VerdictCode, string] => [code, event.id])
        .sort(([, a], [, b]) => (a < b ? -1 : 1));
    };
    const expected: Record<Name, [VerdictCode, string][]> = {
      ok: [],
      slow: [],
      gone: [
        ['endpoint_gone', eventId],
        ['endpoint_gone', later],
      ],
      failing: [
        ['endpoint_disabled', eventId],
        ['endpoint_disabled', later],
      ],
      large: [['filter_not_met', eventId]],
      paused: [
        ['endpoint_paused', eventId],
        ['endpoint_paused', later],
      ],
    };
    for (const name of ENDPOINTS) {
      assert.deepEqual(await missed(name), expected[name], name);
      assert.deepEqual(await missed(name, '&limit=1'), expected[name], name);
    }
    assert.deepEqual(await missed('paused', '&code=filter_not_met'), []);
    assert.deepEqual(await missed('paused', '&code=endpoint_paused,filter_not_met'), expected.paused);
    assert.deepEqual(await missed('paused', '&created_before=2020-01-02'), []);
    const lines = await ask(`missed ${endpoints.large} --since 1h --code filter_not_met`);
    assert.deepEqual(
      lines.map(({ code, event }) => [code, event.id]),
      expected.large,
    );
    for (const [by, id] of [
      [stranger, endpoints.large],
      [client, 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN'],
      [client, 'x'],
    ] as const)
      assert.equal(
        (await by.request('GET', `/v18.0/endpoints/${id}/missed?created_after=2020-01-01`)).status,
        404,
      );
    const without = await client.request('GET', `/v18.0/endpoints/${endpoints.large}/missed`);
    assert.deepEqual([without.status, without.json.errors[0].parameter], [400, 'created_after']);
  });

  it('is an endpoint that was deleted since answered for, too?', async () => {
    const { id } = await client.register(`${receiver.url}/ok`, { event_kinds: ['endpoint.recovered'] });
    assert.equal((await client.request('DELETE', `/v18.0/endpoints/${id}`)).status, 204);
    const { data } = await get(`/endpoints/${id}/missed?created_after=2020-01-01&event_kind=purchase`);
    assert.deepEqual(
      data.map(({ code }: { code: string }) => code),
      ['registered_later', 'registered_later'],
    );
  });

  describe('has this record been altered?', () => {
    const integrity = (kind: string, id: string, by = client) => get(`/${kind}/${id}/integrity`, by);
    const results = async (kind: string, id: string) => {
      const { verdict, checks } = await integrity(kind, id);
      return [verdict, ...checks.map(({ check, result }: Record<string, string>) => `${check} ${result}`)];
    };
    const collection = (name: string) => mongo.db().collection<{ _id: string }>(name);
    /** Alters a document, looks, and makes it what it was. */
    const altered = async (
      name: string,
      _id: string,
      alter: (document: Record<string, string>) => Record<string, unknown>,
      look: () => Promise<void>,
    ) => {
      const before = (await collection(name).findOne({ _id })) ?? assert.fail();
      await collection(name).updateOne({ _id }, { $set: alter(before as never) });
      try {
        await look();
      } finally {
        await collection(name).replaceOne({ _id }, before);
      }
    };
    const sound = ['unaltered', 'log same', 'shown same', 'payload same'];

    before(async () => {
      await until(
        async () => {
          await runRecords(system);
          return Promise.all([
            integrity('deliveries', deliveries.ok),
            integrity('deliveries', deliveries.slow),
          ]);
        },
        (all) => all.every(({ verdict }) => verdict === 'unaltered'),
      );
    });

    it('not if nothing was: of a delivery, an event and a change', async () => {
      assert.deepEqual(await results('deliveries', deliveries.ok), sound);
      assert.deepEqual(await results('deliveries', deliveries.paused), [
        'not_proven',
        'log unknown',
        'shown same',
      ]);
      const [verdict, ...checks] = await results('events', eventId);
      assert.equal(verdict, 'unaltered');
      assert.ok(checks.length >= 4 && checks.every((check) => check.endsWith(' same')));
      const [line] = await ask(`integrity ${deliveries.ok}`);
      assert.deepEqual(line, await integrity('deliveries', deliveries.ok));
    });

    it('also not once Temporal has removed it', async () => {
      const { workflow_id, run_id } = await client.delivery(deliveries.slow);
      await forget(system, [{ workflow_id, run_id }]);
      assert.deepEqual(await results('deliveries', deliveries.slow), sound);
    });

    it('if its record was: by the log', async () => {
      const record = (text = '') => ({ record: text.replace('"status_code":200', '"status_code":201') });
      await altered(
        'deliveries',
        deliveries.ok,
        (one) => record(one['record']),
        async () => {
          const found = ['altered', 'log differs', 'shown differs', 'payload same'];
          assert.deepEqual(await results('deliveries', deliveries.ok), found);
          const [line] = await ask(`integrity ${deliveries.ok}`, 1);
          assert.equal(line.verdict, 'altered');
          assert.equal((await results('events', eventId))[0], 'altered');
        },
      );
    });

    it('if what is shown was, and its record was not', async () => {
      const found = ['altered', 'log same', 'shown differs', 'payload same'];
      const { ok } = deliveries;
      const look = async () => assert.deepEqual(await results('deliveries', ok), found);
      const summary = (text = '') => ({ summary: text.replace('"delivered"', '"cancelled"') });
      await altered('deliveries', ok, (one) => summary(one['summary']), look);
      await altered('deliveries', ok, () => ({ status: 'exhausted' }), look);
      const sealed = (text = '') => ({ detail: `${text.slice(0, -4)}AAAA` });
      await altered(
        'deliveries',
        ok,
        (one) => sealed(one['detail']),
        async () => {
          await look();
        },
      );
    });

    it('if its payload was', async () => {
      const sealed = (text = '') => ({ sealed: `${text.slice(0, -4)}AAAA` });
      await altered(
        'events',
        eventId,
        (one) => sealed(one['sealed']),
        async () => {
          const [verdict, ...checks] = await results('deliveries', deliveries.ok);
          assert.deepEqual([verdict, checks[2]], ['altered', 'payload differs']);
        },
      );
    });

    it('if a change was: who did it, or when', async () => {
      const [change] = (await get(`/changes?resource=endpoint:${endpoints.gone}&action=disabled`)).data;
      await until(
        async () => {
          await runRecords(system);
          return integrity('changes', change.id);
        },
        ({ verdict }) => verdict === 'unaltered',
      );
      await altered(
        'changes',
        change.id,
        () => ({ actor: 'operator' }),
        async () => {
          assert.deepEqual(await results('changes', change.id), ['altered', 'log differs', 'tag differs']);
        },
      );
    });

    it('is nobody else’s to ask', async () => {
      for (const path of [
        `deliveries/${deliveries.ok}`,
        `events/${eventId}`,
        'deliveries/x',
        'events/x',
        'changes/x',
      ])
        assert.equal((await stranger.request('GET', `/v18.0/${path}/integrity`)).status, 404, path);
    });
  });
});
