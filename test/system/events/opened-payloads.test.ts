import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import mongoose from 'mongoose';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { parseKeptDays } from '../../../src/domain/records/kept-days.js';
import type { EventForRows } from '../../../src/domain/records/told.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { PayloadReader } from '../../../src/models/event/payloads.js';
import { RecordRepository } from '../../../src/models/records/records.js';
import { PURCHASE } from '../../support/api-client.js';
import { sharedSystem } from '../../support/system.js';

/** Deliveries of one event in a group. */
const DELIVERIES = 120;

describe('the payload of an event', () => {
  it('is read and opened once for all of its deliveries in flight and their rows', async () => {
    const { account, database, sealer, settings } = await sharedSystem();
    const client = await account();
    const { id: event_id } = await client.purchase();
    const connection = await mongoose
      .createConnection(settings.MONGODB_URI ?? '', { monitorCommands: true })
      .asPromise();
    try {
      const reads: unknown[] = [];
      connection.getClient().on('commandStarted', ({ command }) => {
        if (command['find'] === 'events') reads.push(command['projection']);
      });
      let opened = 0;
      const counting: typeof sealer = {
        ...sealer,
        openCommitted: (...args) => {
          opened += 1;
          return sealer.openCommitted(...args);
        },
      };
      const { box } = requireBoxes(settings);
      const days = parseKeptDays('1');
      const { log, segments, dataKeys: keys } = database;
      const payloads = new PayloadReader(connection, { sealer: counting, keys, kept: days }, box, TIMINGS);
      const sources = { sealer: counting, payloads, keys, log, segments };
      const { rows } = new RecordRepository(connection, { records: days, payloads: days }, sources, box);
      const event = { account_id: client.accountId, event_id };
      const all = await Promise.all(Array.from({ length: DELIVERIES }, () => payloads.of(event)));
      assert.deepEqual(new Set(all), new Set([PURCHASE]));
      const kept = await Promise.all([rows.eventsOf([event_id]), rows.eventsOf([event_id])]);
      assert.equal(
        (kept[0].get(event_id) as EventForRows).payload_sha256,
        createHash('sha256').update(PURCHASE).digest('hex'),
      );
      assert.equal(opened, 1);
      const withPayload = () => reads.filter((projection) => projection === undefined).length;
      assert.equal(withPayload(), 1);
      // Those of several events are read together, also for their rows alone.
      const others = await Promise.all([1, 2, 3].map(() => client.purchase()));
      assert.equal((await rows.eventsOf(others.map(({ id }) => id))).size, others.length);
      assert.deepEqual([opened, withPayload()], [1 + others.length, 2]);
    } finally {
      await connection.close();
    }
  });
});
