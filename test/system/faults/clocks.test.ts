import assert from 'node:assert/strict';
import { loadSettings } from '../../../src/config/load.js';
import { hashSecret } from '../../../src/domain/access/secret-hash.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { runRecords } from '../../support/parts/records.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type ShiftedClock, shiftedClock } from '../../support/programs/shifted-clock.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const HOUR = 3_600;
const EVENTS = 5;
const SECOND_MS = 1_000;
/** Four attempts. */
const SCHEDULE = ['1s', '1s', '1s'];
/** How far ahead events are scheduled. Seconds. */
const DUE_S = 3;
/** The most by which a busy machine is late: far less than the hour of a wrong clock. Milliseconds. */
const MOST_LATE_MS = 60 * SECOND_MS;
/** `Retry-After` in whole seconds: longer than the schedule's wait. */
const ASKED_S = 3;

/** A receiver, and the endpoint that it is. */
interface Subscriber extends Pick<Receiver, 'received' | 'close'> {
  endpointId: string;
}

/**
 * A process whose clock is not that of Temporal and MongoDB, or is set while it works. Nothing that anybody waits for
 * is earlier or later because of that, and nothing is missing in a list.
 */
describe('a process whose clock is another one [world]', () => {
  for (const [what, first, meanwhile] of [
    ['is an hour behind', -HOUR, -HOUR],
    ['is an hour ahead', HOUR, HOUR],
    ['is set an hour ahead in mid-run', 0, HOUR],
    ['is set an hour back in mid-run', 0, -HOUR],
  ] as const)
    describe(what, () => {
      let clock: ShiftedClock;
      let service: ServiceProcess;
      let environment: Record<string, string>;
      let database: Database;
      let temporal: TemporalConnection;
      let client: ApiClient;
      const subscribers: Subscriber[] = [];
      const ids: string[] = [];
      /** An account of its own for scheduled events; their times are known by their payloads. */
      let later: { client: ApiClient; receiver: Receiver };
      const due = new Map<string, number>();
      const began = Date.now();

      before(async () => {
        environment = await testEnvironment({ HOOKLINE_ALLOW_HTTP: 'true' });
        database = await connectDatabase(environment['MONGODB_URI'] ?? '');
        temporal = await connectTemporal(temporalOfRun());
        clock = await shiftedClock(first);
        service = await startServiceProcess({ ...environment, ...clock.environment });
        client = await newAccount(database, service.url);
        await register({ 'retry-after': () => undefined });
        await register({ 'retry-after': () => String(ASKED_S) }, 1);
        await register(
          { 'retry-after': () => new Date(Date.now() + ASKED_S * SECOND_MS + 999).toUTCString() },
          1,
        );
        await register({}, 0);
        later = {
          client: await newAccount(database, service.url),
          receiver: await startReceiver({ tls: false }),
        };
        await later.client.register(later.receiver.url);
        for (let index = 0; index < EVENTS; index += 1) await post();
        await until(() => subscribers.every(({ received }) => received.length >= EVENTS), Boolean);
        await schedule('before');
        await clock.shift(meanwhile);
        await schedule('after');
        for (let index = 0; index < EVENTS; index += 1) await post();
        await until(
          async () =>
            (await readAll(client, '/v18.0/deliveries?limit=50')).filter(
              ({ status }) => status === 'delivered',
            ).length,
          (count) => count === ids.length,
        );
      });
      after(async () => {
        await service?.kill();
        await temporal?.close();
        await database?.close();
        for (const { close } of subscribers.splice(0)) await close();
        await later?.receiver.close();
        await clock?.close();
      });

      async function post(): Promise<void> {
        const { deliveries } = await client.purchase();
        ids.push(...deliveries.map(({ id }: { id: string }) => id));
      }

      /** Has an event sent at a time, and one after a while. */
      async function schedule(when: string): Promise<void> {
        const at = Date.now() + DUE_S * SECOND_MS;
        for (const [way, query, headers] of [
          ['at', '', { 'hookline-deliver-at': new Date(at).toISOString() }],
          ['after', `?deliver_after=${DUE_S}`, {}],
        ] as const) {
          const raw = JSON.stringify({ ...JSON.parse(PURCHASE), order_id: `${when} ${way}` });
          const path = `/v18.0/scheduled_events/purchase${query}`;
          const { status, text } = await later.client.request('POST', path, { raw, headers });
          assert.equal(status, 201, text);
          due.set(raw, at);
        }
      }

      /** An endpoint that refuses each event so many times. */
      async function register(
        headers: { 'retry-after'?: () => string | undefined },
        refusals = SCHEDULE.length,
      ): Promise<void> {
        const seen = new Map<string, number>();
        const receiver = await startReceiver({
          tls: false,
          handler(request, response) {
            const id = String(request.headers['webhook-id']);
            const times = (seen.get(id) ?? 0) + 1;
            seen.set(id, times);
            const after = headers['retry-after']?.();
            if (times > refusals) response.writeHead(200).end();
            else response.writeHead(503, after === undefined ? {} : { 'retry-after': after }).end();
          },
        });
        const { id: endpointId } = await client.register(receiver.url, { retry_schedule: SCHEDULE });
        subscribers.push({ endpointId, received: receiver.received, close: () => receiver.close() });
      }

      /**
       * The waits before those attempts that the schedule or the endpoint asked for, as the receiver has seen them,
       * milliseconds. A probe, and the release at the end of an incident, which a busy machine may have, are made
       * besides the attempt that the delivery waits for: its wait goes on.
       */
      async function waits({ received, endpointId }: Subscriber): Promise<number[]> {
        const deliveries = await Promise.all(ids.map((id) => client.delivery(id)));
        return deliveries
          .filter(({ endpoint_id }) => endpoint_id === endpointId)
          .flatMap(({ event_id, attempts }) => {
            const times = received
              .filter(({ headers }) => headers['webhook-id'] === event_id)
              .map(({ at }) => at.getTime());
            assert.equal(times.length, attempts.length, 'each attempt has come once');
            const isAsked = ({ trigger }: { trigger: string }) =>
              trigger === 'schedule' || trigger === 'retry_after';
            const asked = attempts.flatMap((attempt, index) =>
              index === 0 || isAsked(attempt) ? [Number(times[index])] : [],
            );
            return asked.slice(1).map((time, index) => time - Number(asked[index]));
          });
      }

      it('waits between attempts as the schedule says, and no less', async () => {
        const [failing] = subscribers as [Subscriber];
        assert.equal(failing.received.length, 2 * EVENTS * (SCHEDULE.length + 1));
        const found = await waits(failing);
        assert.ok(Math.min(...found) >= SECOND_MS, `${found}`);
      });

      it('heeds Retry-After, in seconds and as a date', async () => {
        for (const subscriber of subscribers.slice(1, 3)) {
          const found = await waits(subscriber);
          assert.equal(found.length, 2 * EVENTS);
          assert.ok(Math.min(...found) >= ASKED_S * SECOND_MS, `${found}`);
        }
      });

      it('sends what is scheduled at its time, and once', async () => {
        const { client: own, receiver } = later;
        await receiver.waitFor((all) => all.length >= due.size);
        const sent = async () =>
          (await readAll(own, '/v18.0/deliveries')).filter(({ status }) => status === 'delivered').length;
        await until(sent, (count) => count === due.size);
        assert.deepEqual(receiver.received.map(({ body }) => body.toString()).sort(), [...due.keys()].sort());
        for (const { at, body } of receiver.received) {
          const late = at.getTime() - Number(due.get(body.toString()));
          assert.ok(late > -SECOND_MS && late < MOST_LATE_MS, `${late} ms`);
        }
        await until(
          () => readAll(own, '/v18.0/scheduled_events'),
          (waiting) => waiting.length === 0,
        );
      });

      it('gives tokens that last as long as they say', async () => {
        const { json: oauthClient } = await client.request('POST', '/v18.0/oauth_clients', {
          body: { name: 'clocks', grant_types: ['client_credentials'], scopes: ['deliveries:read'] },
        });
        const response = await fetch(`${service.url}/oauth/token`, {
          method: 'POST',
          headers: {
            authorization: `Basic ${Buffer.from(`${oauthClient.id}:${oauthClient.secret}`).toString('base64')}`,
          },
          body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'deliveries:read' }),
        });
        const { access_token, expires_in } = (await response.json()) as {
          access_token: string;
          expires_in: number;
        };
        const stored = await database.accessTokens.ofHash(hashSecret(access_token));
        const lasts = Number(stored?.expires_at) - Date.now();
        assert.ok(Math.abs(lasts - expires_in * SECOND_MS) < (HOUR * SECOND_MS) / 2, `${lasts}`);
        const authorization = `Bearer ${access_token}`;
        const { status } = await fetch(`${service.url}/v18.0/deliveries`, { headers: { authorization } });
        assert.equal(status, 200);
      });

      it('says so: in its log, in its readiness, and in a metric', async () => {
        const way = meanwhile < 0 ? 'behind' : 'ahead of';
        for (const server of ['MongoDB', 'Temporal']) {
          const warning = new RegExp(
            `The clock of this machine is 3[56]\\d\\d\\.\\d s ${way} that of ${server}\\.`,
          );
          await until(() => service.lines.some((line) => warning.test(line)), Boolean);
          const ready = await fetch(`${service.url}/readyz`);
          const { warnings } = (await ready.json()) as { warnings: string[] };
          assert.ok(
            warnings.some((text: string) => warning.test(text)),
            `${warnings}`,
          );
        }
        const metrics = await (await fetch(`${service.url}/metrics`)).text();
        const sign = meanwhile < 0 ? '-' : '';
        assert.match(
          metrics,
          new RegExp(`hookline_clock_difference_seconds{server="temporal"} ${sign}3[56]\\d\\d`),
        );
      });

      it('signs at a time that subscribers take', () => {
        for (const { received } of subscribers)
          for (const { at, headers } of received) {
            const sent = Number(headers['webhook-timestamp']) * SECOND_MS;
            assert.ok(sent > began - SECOND_MS && sent <= at.getTime(), `${sent} of ${at.getTime()}`);
          }
      });

      it('lists and exports everything once, before and after it is recorded', async () => {
        const listed = async () =>
          (await readAll(client, '/v18.0/deliveries?limit=7')).map(({ id }) => id).sort();
        const all = [...ids].sort();
        assert.deepEqual(await listed(), all);
        const system = { temporal, settings: loadSettings(environment) };
        const recordedIds = async () => {
          await runRecords(system);
          assert.deepEqual(await listed(), all, 'also while it is recorded');
          const from = new Date(began - SECOND_MS).toISOString();
          const { text } = await client.request(
            'GET',
            `/v18.0/exports?from=${from}&to=${new Date().toISOString()}`,
          );
          return text;
        };
        await until(recordedIds, (text) => ids.every((id) => text.includes(id)));
        assert.deepEqual(await listed(), all);
      });
    });
});
