import assert from 'node:assert/strict';
import mongoose, { type Model } from 'mongoose';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { changes } from '../../../src/models/change/change-document.js';
import { ChangeSeal } from '../../../src/models/change/change-seal.js';
import { EventSeal, events } from '../../../src/models/event/event-document.js';
import { deliveries } from '../../../src/models/records/row-documents.js';
import { RowTags } from '../../../src/models/records/row-tags.js';

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
