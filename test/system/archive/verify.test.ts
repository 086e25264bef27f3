import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { archiveExecutions } from '../../../activities/archive/archive-deliveries.js';
import { compareLedger } from '../../../src/bin/archive/compare-ledger.js';
import { Held } from '../../../src/bin/archive/held.js';
import { parseKeptDays } from '../../../src/domain/archive/kept-days.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { ArchiveRepository } from '../../../src/models/archive/archive.js';
import { EventSeal } from '../../../src/models/event/event-document.js';
import { ClosedExecutionFinder } from '../../../src/temporal/read/archive/closed-windows.js';
import type { Delivery, DeliverySummary } from '../../../src/temporal/read/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { archived, forget, runArchive } from '../../support/parts/archive.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Deliveries of one event to so many endpoints are a group. */
const IN_GROUP = 12;

interface Document {
  _id: string;
  [field: string]: unknown;
}

/** Compares everything in a database, so it has one of its own. */
describe('hookline archive verify', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h' });
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });
  beforeEach(() => receiver.handle(reply(200)));

  const deliveries = () => connection.collection<Document>('archived_deliveries');
  const events = () => connection.collection<Document>('events');

  const verify = async (...args: string[]) => {
    const run = runHere('archive', system.environment, ['verify', '--json', ...args]).then(
      (stdout) => ({ code: 0, stdout, stderr: '' }),
      (ended: { code: number; stdout: string; stderr: string }) => ended,
    );
    const { code, stdout, stderr } = await run;
    assert.ok(stdout !== '', stderr);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line));
    const result = lines.pop();
    assert.equal(code === 0, result.differences === 0, stdout);
    assert.equal(lines.length, result.differences);
    const found: Record<string, string> = Object.fromEntries(
      lines.map(({ id, what }: { id: string; what: string }) => [id, what]),
    );
    return { found, result };
  };
  /** Some deliveries that were delivered and archived. */
  const send = async (count = 1): Promise<Delivery[]> => {
    const sent: Delivery[] = [];
    for (let n = 0; n < count; n += 1) {
      const { deliveries } = await client.purchase();
      sent.push(await client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered'));
    }
    await archived(
      system,
      client,
      sent.map(({ id }) => id),
    );
    return sent;
  };
  const copyOf = async (id: string) => (await deliveries().findOne({ _id: id })) ?? assert.fail(id);
  /** Sends a delivery again, and archives it. @returns its second revision */
  const sendAgain = async (id: string) => {
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    return until(
      async () => {
        await runArchive(system);
        return copyOf(id);
      },
      ({ revision }) => revision === 2,
    );
  };
  const restore = (document: Document) =>
    deliveries().replaceOne({ _id: document._id }, document, { upsert: true });

  it('compares all that Temporal has, also what has closed in groups that go on [world]', async () => {
    const [one] = await send();
    receiver.handle((request, ...rest) => reply(request.url === '/slow' ? 500 : 200)(request, ...rest));
    const other = await system.account();
    for (let n = 1; n < IN_GROUP; n++) await other.register(`${receiver.url}/good/${n}`);
    const bad = await other.register(`${receiver.url}/slow`);
    const event = await other.purchase();
    const { data } = (await other.request('GET', `/v18.0/deliveries?event_id=${event.id}`)).json;
    const good = data
      .map((each: DeliverySummary) => each.endpoint_id)
      .filter((id: string) => id !== bad.id)
      .map((endpoint_id: string) => deliveryId({ event_id: event.id, endpoint_id }));
    await other.deliveryUntil(
      deliveryId({ event_id: event.id, endpoint_id: bad.id }),
      ({ status }) => status === 'retrying',
    );
    await archived(system, other, good);
    await runArchive(system);
    const { found, result } = await verify();
    assert.deepEqual(found, {});
    const { compared, inOpenGroups, open, later } = result.ledger;
    assert.deepEqual([compared, inOpenGroups, open, later], [IN_GROUP, IN_GROUP - 1, 1, 0]);
    assert.ok(one);
    const { log } = result;
    assert.deepEqual([log.deliveries, log.events, log.missing], [IN_GROUP, 2, 0]);
    assert.equal(log.leaves, log.deliveries + log.changes);
  });

  it('names what has closed and is not in the archive, once that is past the time', async () => {
    const { deliveries } = await client.purchase();
    const id = deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const { archive } = system.database;
    const { temporal, sealer, settings } = system;
    const taskQueue = settings.HOOKLINE_TASK_QUEUE;
    const finder = new ClosedExecutionFinder({ client: temporal.client, taskQueue, sealer, archive });
    const differences = async (upTo: Date) => {
      const counts = { compared: 0, inOpenGroups: 0, open: 0, later: 0, removed: 0 };
      const period = { start: new Date(Date.now() - 3_600_000), end: upTo, upTo };
      const found: string[] = [];
      for await (const { id, what } of compareLedger(finder, archive, period, counts, new Held()))
        found.push(`${id} ${what}`);
      return { found, later: counts.later };
    };
    const now = Date.now();
    await until(
      () => differences(new Date(now)),
      ({ found, later }) => found.length === 0 && later >= 1,
    );
    assert.deepEqual((await differences(new Date(now + 120_000))).found, [`${id} is not in the archive`]);
    await archived(system, client, [id]);
  });

  it('names the leaf of a record in whose place an earlier one was put back [world]', async () => {
    const [{ id = '' } = {}] = await send();
    const first = await copyOf(id);
    const second = await sendAgain(id);
    await restore(first);
    const leaf = `leaf ${second['leaf_index']}`;
    assert.match((await verify()).found[leaf] ?? '', /has no record/);
    await restore(second);
    assert.deepEqual((await verify()).found, {});
  });

  // Nothing but the record tells of the run: one that has failed can go on beside the next, and keep it then.
  describe('after a run that was interrupted between keeping a record and giving it to the log', () => {
    let id = '';
    beforeEach(async () => {
      const { deliveries: [sent] = [] } = await client.purchase();
      ({ id = '' } = sent ?? {});
      await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      const { temporal, sealer, settings, database } = system;
      const days = parseKeptDays('1');
      const log: ConstructorParameters<typeof ArchiveRepository>[3] = {
        append: () => Promise.reject(new Error('killed')),
        leavesAt: (numbers) => database.log.leavesAt(numbers),
      };
      const retention = { records: days, payloads: days };
      const interrupted = new ArchiveRepository(connection, retention, sealer, log, new EventSeal(undefined));
      const { HOOKLINE_TASK_QUEUE: queue } = settings;
      const sources = { client: temporal.client, taskQueue: queue, sealer, archive: database.archive };
      const finder = new ClosedExecutionFinder(sources);
      const run = async () => {
        const { executions } = await finder.closedFrom(new Date(Date.now() - 60_000), new Date(), 60_000);
        const own = executions.filter(({ runs }) => runs.some((one) => one.id === id));
        await archiveExecutions({ archive: interrupted, teller: { note: async () => {} } }, own);
      };
      const killed = () =>
        run().then(
          () => undefined,
          ({ message }: Error) => message,
        );
      assert.equal(await until(killed, (message) => message !== undefined), 'killed');
      assert.equal((await copyOf(id))['leaf_index'], -1);
    });

    /** What is said of the delivery, and of leaves. */
    const wrong = async () =>
      Object.entries((await verify()).found).filter(([name]) => name === id || name.startsWith('lea'));

    it('misses nothing, also if the delivery was sent again [world]', async () => {
      assert.equal(await system.database.archive.delivery(client.accountId, id), undefined);
      assert.equal((await client.delivery(id)).status, 'delivered');
      assert.deepEqual(await wrong(), []);
      const second = await sendAgain(id);
      const [first] = second['replaced_leaves'] as number[];
      assert.ok(Number(first) >= 0 && Number(first) < Number(second['leaf_index']));
      assert.deepEqual(await wrong(), []);
    });

    it('gives the record to the log with the next run that finds the execution, as it is stored', async () => {
      const { record } = await copyOf(id);
      await runArchive(system);
      const logged = await copyOf(id);
      assert.equal(logged['record'], record);
      assert.equal(await system.database.log.isLeaf(String(record), Number(logged['leaf_index'])), true);
      assert.equal((await system.database.archive.delivery(client.accountId, id))?.id, id);
    });

    it('gives it to the log without its execution as well, which Temporal may not have any more', async () => {
      await system.database.archive.logAllStored();
      assert.ok(Number((await copyOf(id))['leaf_index']) >= 0);
    });

    it('accuses nobody if the log has taken the record, and its number was not noted [world]', async () => {
      await runArchive(system);
      const logged = await copyOf(id);
      assert.ok(Number(logged['leaf_index']) >= 0);
      await deliveries().updateOne({ _id: id }, { $set: { leaf_index: -1 } });
      assert.deepEqual(await wrong(), []);
      await restore(logged);
    });

    it('gives nothing to the log that somebody has altered meanwhile [world]', async () => {
      const kept = await copyOf(id);
      const record = String(kept['record']).replace(/"duration_ms":/, '"duration_ms":1');
      await deliveries().updateOne({ _id: id }, { $set: { record } });
      const { log } = system.database;
      await runArchive(system);
      assert.equal((await copyOf(id))['leaf_index'], -1);
      assert.equal(await log.isLeaf(record, (await log.size()) - 1), false);
      const long_ago = new Date(Date.now() - 3_600_000);
      await deliveries().updateOne({ _id: id }, { $set: { archived_at: long_ago } });
      assert.match((await verify()).found[id] ?? '', /is not in the log yet/);
      await deliveries().deleteOne({ _id: id });
      await archived(system, client, [id]);
    });
  });

  it('names what was altered, removed and added in MongoDB, and so does the API once Temporal has forgotten it [world]', async () => {
    const sent = await send(10);
    const ids = sent.map(({ id }) => id);
    const [times = '', status = '', summary = '', account = '', detail = '', one = '', other = ''] = ids;
    const [, , , , , , , gone = '', leaf = '', payload = ''] = ids;
    const before = await Promise.all(ids.map(copyOf));
    const eventOf = (id: string) => sent.find((each) => each.id === id)?.event_id ?? '';
    const payloadBefore = (await events().findOne({ _id: eventOf(payload) })) ?? assert.fail();
    const set = (id: string, fields: Record<string, unknown>) =>
      deliveries().updateOne({ _id: id }, { $set: fields });
    const of = (id: string) => before.find(({ _id }) => _id === id) ?? assert.fail();
    const texts = (id: string) => {
      const { record, summary, leaf_index } = of(id);
      return { record, summary, leaf_index };
    };
    const stranger = await system.account();
    // Half a day, so that it is another hour whenever the test runs.
    const shifted = (hour: string) => `T${String((Number(hour) + 12) % 24).padStart(2, '0')}:`;
    const later = (text: unknown) => String(text).replaceAll(/T(\d\d):/g, (_, hour) => shifted(hour));
    await set(times, { record: later(of(times)['record']), summary: later(of(times)['summary']) });
    await set(status, { status: 'exhausted' });
    await set(summary, { summary: String(of(summary)['summary']).replace('delivered', 'exhausted') });
    await set(account, { account_id: stranger.accountId });
    await set(detail, { detail: of(one)['detail'] });
    await set(one, texts(other));
    await set(other, texts(one));
    await deliveries().deleteOne({ _id: gone });
    await set(leaf, { leaf_index: of(times)['leaf_index'] });
    const sealed = `${String(payloadBefore['sealed']).slice(0, -8)}AAAAAAAA`;
    await events().updateOne({ _id: payloadBefore._id }, { $set: { sealed } });
    const forged = {
      ...of(times),
      _id: times.replace(/^dlv_../, 'dlv_00'),
      record: later(of(times)['record']),
    };
    await deliveries().insertOne(forged);
    const invented = { ...of(times), _id: times.replace(/.$/, (last) => (last === '0' ? '1' : '0')) };
    await deliveries().insertOne(invented);

    const { found, result } = await verify();
    const wrong = (id: string) => found[id] ?? `nothing: ${JSON.stringify(found)}`;
    assert.match(wrong(times), /was altered, and differs in .*\/record\/attempts/);
    assert.match(wrong(status), /was altered, and differs in \/status/);
    assert.match(wrong(summary), /was altered, and differs in \/summary\/status/);
    assert.match(wrong(account), /another account/);
    assert.match(wrong(detail), /was altered/);
    for (const id of [one, other]) assert.match(wrong(id), /was altered/);
    assert.match(wrong(leaf), /leaf/);
    assert.match(wrong(eventOf(payload)), /does not open/);
    assert.match(wrong(invented._id), /has another id than its record/);
    assert.match(wrong(forged._id), /another record than the one of leaf|was never appended/);
    // That of the removed one, and that of the one which says that it has another leaf.
    const leaves = [of(gone), of(leaf)].map(({ leaf_index }) => Number(leaf_index)).sort((a, b) => a - b);
    const told = Object.keys(found)
      .filter((id) => id.startsWith('lea'))
      .join();
    assert.deepEqual(told.match(/\d+/g)?.map(Number), leaves);
    assert.equal(result.log.missing, 2);

    await forget(system, sent);
    const ask = async (path: string) => {
      const { status, json } = await client.request('GET', `/v18.0${path}`);
      return `${status} ${json?.code ?? ''} ${json?.detail ?? ''}`;
    };
    for (const id of [times, status, summary, detail, one, other, leaf]) {
      for (const path of [`/deliveries/${id}`, `/deliveries/${id}/timeline`])
        assert.match(await ask(path), new RegExp(`^409 record_altered .*${id}`), path);
      assert.match(
        await ask(`/explain?event_id=${eventOf(id)}&endpoint_id=${sent[0]?.endpoint_id}`),
        /^409 record_altered/,
      );
      // A list has no details, and names the first of several that were altered.
      if (id !== detail)
        for (const path of [`/deliveries?event_id=${eventOf(id)}`, `/events/${eventOf(id)}`])
          assert.match(await ask(path), /^409 record_altered /, path);
    }
    for (const id of [times, leaf])
      assert.match(await ask(`/deliveries/${id}/certificate`), new RegExp(`^409 record_altered .*${id}`));
    assert.match(
      await ask(`/events/${eventOf(payload)}`),
      new RegExp(`^409 record_altered .*${eventOf(payload)}`),
    );
    assert.match(await ask(`/deliveries/${payload}/certificate/opening`), /^409 record_altered/);
    assert.match(await ask('/deliveries'), /^409 record_altered/);
    const { text } = await client.request('GET', `/v18.0/exports?from=${sent[0]?.created_at}`);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const altered = lines.filter(({ type }) => type === 'altered').map((line) => line.id);
    for (const id of [times, status, summary, detail, one, other, leaf, eventOf(payload)])
      assert.ok(altered.includes(id), `${id} of ${altered}`);
    assert.ok(!text.includes('exhausted'));
    const resent = await client.request('POST', `/v18.0/deliveries/${payload}/resend`);
    assert.equal(resent.json.code, 'record_altered');
    assert.equal((await stranger.request('GET', `/v18.0/deliveries/${account}`)).json.code, 'record_altered');
    assert.match(await ask(`/deliveries/${account}`), /^404/);

    await deliveries().deleteMany({ _id: { $in: [invented._id, forged._id] } });
    await Promise.all(before.map(restore));
    await events().replaceOne({ _id: payloadBefore._id }, payloadBefore);
    assert.match(await ask('/deliveries'), /^200/);
    // Temporal would have forgotten them so soon only if somebody had made it.
    const after = (await verify()).found;
    assert.deepEqual(Object.keys(after).sort(), [...ids].sort());
    assert.match(after[times] ?? '', /but Temporal does not have it/);
  });
});
