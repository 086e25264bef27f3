import assert from 'node:assert/strict';
import mongoose, { type Model } from 'mongoose';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { changes } from '../../../src/models/change/change-document.js';
import { ChangeSeal } from '../../../src/models/change/change-seal.js';
import { EventSeal, events } from '../../../src/models/event/event-document.js';
import { contentOfScheduled } from '../../../src/models/event/scheduled-events.js';
import { contentOfSegment } from '../../../src/models/log/segments.js';
import { COLLECTIONS } from '../../../src/models/mongo/collection.js';
import { contentOfErasedKey } from '../../../src/models/privacy/data-keys.js';
import { contentOfInput } from '../../../src/models/privacy/private-inputs.js';
import { contentOfEnd } from '../../../src/models/records/ends.js';
import { deliveries } from '../../../src/models/records/row-documents.js';
import { RowTags } from '../../../src/models/records/row-tags.js';
import { contentOfReplay } from '../../../src/models/replay/replays.js';
import { contentOfRestore } from '../../../src/models/sequence/restores.js';
import { contentOfHolder, contentOfSequence } from '../../../src/models/sequence/sequence-documents.js';
import { contentOfVoid } from '../../../src/models/sequence/void-numbers.js';
// All collections.
import '../../../src/models/database.js';

const AT = new Date('2026-01-31T12:00:00Z');
/** Values that somebody could write in the place of others. */
const OTHER: Record<string, unknown> = {
  String: '{}',
  Mixed: '{}',
  Number: 7,
  Boolean: true,
  Date: new Date('2026-02-01'),
  Array: ['other'],
  Embedded: { attempt: 7 },
  Buffer: Buffer.from('other'),
};

/** The other tagged documents: what a tag is of, and the fields that it leaves out, as nobody believes them. */
const CONTENTS: Record<string, [contentOf: (document: never) => string, unseen?: string[]]> = {
  erased_data_keys: [contentOfErasedKey],
  private_inputs: [contentOfInput, ['expires_at']],
  replays: [contentOfReplay, ['expires_at']],
  // A commitment covers the sealed text.
  scheduled_events: [contentOfScheduled, ['sealed', 'expires_at']],
  // Whoever believes a number in the log compares the leaf.
  segments: [contentOfSegment, ['first']],
  sequences: [contentOfSequence],
  sequence_holders: [contentOfHolder],
  sequence_restores: [contentOfRestore],
  sequence_voids: [contentOfVoid, ['in_log', 'leaf_index']],
  unannounced_ends: [contentOfEnd, ['forgotten_at']],
};

describe('the tag of a document', () => {
  const box = new SecretBox(parseSecretKeys(newSecretKey()));
  const connection = mongoose.createConnection();
  for (const made of ['autoIndex', 'autoCreate']) connection.set(made, false);
  const rows = new RowTags(box);
  const seals = { events: new EventSeal(box), changes: new ChangeSeal(box) };

  /** The fields of which nobody notices that somebody has written something else. */
  function unseen<D extends object>(
    model: Model<D>,
    document: object,
    tag: (document: D) => string | undefined,
    wrong: (document: D) => string | undefined,
  ): string[] {
    const tagged = { ...document, tag: tag(document as D) };
    assert.equal(wrong(tagged as D), undefined);
    return Object.values(model.schema.paths).flatMap(({ path, instance }) => {
      const value = path === 'targets' ? [{ endpoint_id: 'ep_other' }] : OTHER[instance];
      assert.notEqual(value, undefined, `${path}: ${instance}`);
      return wrong({ ...tagged, [path]: value } as D) === undefined ? [path] : [];
    });
  }

  it('of a row is of every field but those that its record or its sum commits to', () => {
    const row = { accepted_at: AT, kept_at: AT };
    const fields = unseen(
      deliveries(connection),
      row,
      (one) => rows.tagged(one).tag,
      rows.whatIsWrong.bind(rows),
    );
    assert.deepEqual(fields, ['detail', 'timeline']);
  });

  it('of an event is of every field but what goes, or is nobody’s to believe', () => {
    const { events: seal } = seals;
    const event = { accepted_at: AT, targets: [{ endpoint_id: 'ep_1' }] };
    const fields = unseen(events(connection), event, seal.tag.bind(seal), seal.whatIsWrong.bind(seal));
    assert.deepEqual(fields, [
      'sealed',
      'traceparent',
      'tracestate',
      'starter',
      'payload_expires_at',
      'expires_at',
    ]);
  });

  it('of a change is of every field but what the log has, and for how long it is kept', () => {
    const { changes: seal } = seals;
    const change = { at: AT, changed: [], resource: 'endpoint:ep_1', salt: 'c2FsdA==' };
    const fields = unseen(changes(connection), change, seal.tag.bind(seal), seal.whatIsWrong.bind(seal));
    assert.deepEqual(fields, ['expires_at', 'in_log', 'leaf_index']);
  });

  for (const [name, [contentOf, unseen = []]] of Object.entries(CONTENTS))
    it(`of ${name} is of every field${unseen.length > 0 ? ` but ${unseen.join(', ')}` : ''}`, () => {
      const fields = Object.values(COLLECTIONS.get(name)?.paths ?? assert.fail(name));
      const document = Object.fromEntries(
        fields.flatMap(({ path, instance }) => (instance === 'Date' ? [[path, AT]] : [])),
      );
      const believed = contentOf(document as never);
      const left = fields.filter(({ path, instance }) => {
        assert.ok(instance in OTHER, `${path}: ${instance}`);
        return contentOf({ ...document, [path]: OTHER[instance] } as never) === believed;
      });
      assert.deepEqual(
        left.map(({ path }) => path).filter((path) => path !== 'tag'),
        unseen,
      );
    });

  it('is tried of every collection that has any', () => {
    const tagged = [...COLLECTIONS].filter(([, schema]) => schema.path('tag')).map(([name]) => name);
    assert.deepEqual(tagged.sort(), ['changes', 'deliveries', 'events', ...Object.keys(CONTENTS)].sort());
  });

  it('tells each value of another type, and whoever reads it gets none of that', () => {
    const { events: event, changes: change } = seals;
    const long = mongoose.mongo.Long.fromString('9000000000000000000');
    const decimal = mongoose.mongo.Decimal128.fromString('7');
    const others = [
      'text',
      7,
      Number.NaN,
      1e300,
      true,
      ['a'],
      [null],
      { a: 1 },
      AT,
      new Date(NaN),
      long,
      decimal,
    ];
    const isOf: Record<string, (value: unknown) => boolean> = {
      String: (value) => typeof value === 'string',
      Number: Number.isFinite,
      Boolean: (value) => typeof value === 'boolean',
      Date: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
      Array: (value) => Array.isArray(value) && value[0] === 'a',
      Embedded: () => false,
    };
    for (const [{ schema }, read] of [
      [changes(connection), (one: never) => change.loggable(one).wrong],
      [events(connection), (one: never) => event.whatIsWrong(one)],
      [deliveries(connection), (one: never) => rows.whatIsWrong(one)],
    ] as const)
      for (const { path, instance } of Object.values(schema.paths))
        for (const value of others) {
          if (instance === 'Mixed' || isOf[instance]?.(value)) continue;
          if (instance === 'Embedded' && String(value) === '[object Object]') continue;
          const whole = { _id: 'one', tag: 'k:00', at: AT, accepted_at: AT, kept_at: AT, changed: [] };
          const wrong = read({ ...whole, [path]: value } as never);
          assert.equal(wrong, `is not what was written: what stands in "${path}" is of another type`);
        }
  });

  it('of a change tells also what cannot be read any more', () => {
    const { changes: seal } = seals;
    const change = {
      at: AT,
      changed: [],
      resource: 'endpoint:ep_1',
      salt: 'c2FsdA==',
      after: '{"id":"ep_1"}',
    };
    const tagged = { ...change, tag: seal.tag(change as never) };
    assert.equal(seal.loggable(tagged as never).wrong, undefined);
    assert.equal(seal.loggable({ ...tagged, after: '{"id":' } as never).wrong, 'is not what was written');
  });
});
