import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import type { Change } from '../../../src/domain/change/change.js';
import { committedRecord, requireIntact } from '../../../src/domain/records/commitments.js';
import { changeDetails, commitToDetails, deliveryDetails } from '../../../src/domain/records/details.js';
import { canonicalJson, changeRecord } from '../../../src/domain/records/record.js';
import { RecordAlteredError } from '../../../src/domain/records/record-altered.js';
import type { DeliveryRow } from '../../../src/domain/records/stored.js';

const AT = '2026-11-21T12:00:00.000Z';
const ATTEMPT: Attempt = {
  number: 1,
  at: AT,
  duration_ms: 12,
  url: 'https://subscriber.example/hooks',
  endpoint_version: 1,
  address: '192.0.2.1',
  request_bytes: 144,
  response_bytes: 2,
  status_code: 503,
  response_headers: { date: 'today' },
  response_snippet: 'no',
  trigger: 'schedule',
};
const SUMMARY = {
  id: 'dlv_1_2',
  event_id: 'evt_1',
  endpoint_id: 'ep_2',
  event_kind: 'purchase',
  status: 'exhausted' as const,
  created_at: AT,
  started_at: AT,
  closed_at: AT,
  reason: 'Attempt 1 got a 503 response.',
  workflow_id: 'delivery:acct_3:evt_1:ep_2',
  run_id: 'run',
};
const SALTS = { details: randomBytes(32), view: randomBytes(32) };

/** @param salts absent: the key of the event was erased before it was recorded */
function recordedWith(salts: typeof SALTS | undefined) {
  const view = {
    summary: JSON.stringify(SUMMARY),
    detail: JSON.stringify({ attempts: [ATTEMPT] }),
    timeline: JSON.stringify([{ at: AT, type: 'closed', text: 'Exhausted.' }]),
  };
  const closed = { ...SUMMARY, attempts: [ATTEMPT] };
  const { id, event_id, endpoint_id, event_kind, status, run_id } = SUMMARY;
  return {
    ...{ id, account_id: 'acct_3', event_id, endpoint_id, event_kind, status, run_id, keys: [] },
    ...{ accepted_at: new Date(AT), status_code: 503, position: '', turn: 2, revision: 1 },
    record: committedRecord('acct_3', { ...view, closed }, 1, 'c0', salts),
    summary: view.summary,
    ...(salts && { detail: view.detail, timeline: view.timeline }),
  } satisfies DeliveryRow;
}

const forged = (text = '', from: string, to: string) => {
  assert.ok(text.includes(from), from);
  return text.replace(from, to);
};

describe('an recorded delivery', () => {
  const intact = recordedWith(SALTS);

  it('holds as it was recorded, also when its key is erased after or before', () => {
    requireIntact(intact, SALTS.view);
    requireIntact({ ...intact, detail: undefined, timeline: undefined }, undefined);
    requireIntact(recordedWith(undefined), undefined);
  });

  const { summary, detail, timeline, record } = intact;
  for (const [what, altered] of Object.entries<Partial<DeliveryRow>>({
    'the URL of an attempt': { detail: forged(detail, '/hooks', '/other') },
    'the address': { detail: forged(detail, '192.0.2.1', '192.0.2.2') },
    'the status of the answer': { detail: forged(detail, '503', '204') },
    'a header of the answer': { detail: forged(detail, 'today', 'tomorrow') },
    'the text of the answer': { detail: forged(detail, '"no"', '"ok"') },
    'the time in it': { detail: forged(detail, '12:00:00', '12:00:01') },
    'the timeline': { timeline: forged(timeline, 'Exhausted', 'Delivered') },
    'the reason in lists': { summary: forged(summary, '503', '500') },
    'the record': { record: forged(record, '"duration_ms":12', '"duration_ms":13') },
    'a commitment': { record: forged(record, '"payload_commitment":"c0"', '"payload_commitment":"c1"') },
    'white space of the record': { record: `${record} ` },
    'the record, which is JSON no more': { record: record.slice(1) },
    'the status that lists are filtered by': { status: 'delivered' },
    'the status code that lists are filtered by': { status_code: 204 },
    'the endpoint that lists are filtered by': { endpoint_id: 'ep_9' },
    'whose it is': { account_id: 'acct_9' },
    'the time of acceptance': { accepted_at: new Date(0) },
    'the detail, which is gone': { detail: undefined, timeline: undefined },
  }))
    it(`is refused if somebody altered ${what}`, () => {
      assert.throws(() => requireIntact({ ...intact, ...altered }, SALTS.view), RecordAlteredError);
    });

  it('is refused if it is another whose key was erased, in what the record says too', () => {
    const erased = { ...intact, detail: undefined, timeline: undefined };
    const other = { ...erased, summary: forged(summary, '"status":"exhausted"', '"status":"delivered"') };
    assert.throws(() => requireIntact(other, undefined), /differs in \/summary\/status/);
    assert.throws(() => requireIntact(intact, undefined), /sealed with a key that is not there/);
  });

  it('is refused with a record of another format, and says which', () => {
    const older = { ...intact, record: forged(record, '"format":2', '"format":1') };
    assert.throws(
      () => requireIntact(older, SALTS.view),
      /has a record of format 1, and this version of Hookline reads format 2 alone/,
    );
  });

  it('commits to its details under a salt of its own, and has none of them', () => {
    const parsed = JSON.parse(record);
    const details = deliveryDetails({ ...SUMMARY, attempts: [ATTEMPT] });
    assert.equal(parsed.details_commitment, commitToDetails(SALTS.details, details));
    assert.notEqual(parsed.details_commitment, commitToDetails(SALTS.view, details));
    for (const text of ['subscriber.example', '192.0.2.1', 'today', '"no"', 'answered'])
      assert.ok(!record.includes(text), text);
    assert.deepEqual(details.attempts[0], {
      number: 1,
      url: ATTEMPT.url,
      address: '192.0.2.1',
      request_bytes: 144,
      response_bytes: 2,
      response_headers: { date: 'today' },
      response_snippet: 'no',
    });
  });
});

describe('the record of a change', () => {
  const change: Change = {
    id: 'chg_1',
    resource: 'endpoint:ep_1',
    version: 2,
    action: 'updated',
    outcome: 'done',
    at: AT,
    actor: { type: 'oauth_client', id: 'client_1', person: 'prof_1', account_id: 'acct_9' },
    address: '192.0.2.7',
    request_id: 'req',
    reason: 'moved',
    changed: ['/target_url'],
    before: { target_url: 'https://a.example', description: 'half \ud800' },
    after: { target_url: 'https://b.example' },
  };
  const salt = randomBytes(32);
  const commitmentOf = (of: Change) => changeRecord('acct_1', { change: of, salt }).details_commitment;

  it('commits to what it was before and after, from where and why it was changed', () => {
    const { details_commitment, ...said } = changeRecord('acct_1', { change, salt });
    for (const text of ['a.example', 'b.example', '192.0.2.7', 'moved', 'prof_1', 'acct_9', 'req"'])
      assert.ok(!canonicalJson(said).includes(text), text);
    for (const other of [
      { ...change, address: '192.0.2.8' },
      { ...change, reason: 'stolen' },
      { ...change, request_id: 'other' },
      { ...change, before: {} },
      { ...change, after: { target_url: 'https://c.example' } },
      { ...change, actor: { ...change.actor, person: 'prof_2' } },
      { ...change, actor: { type: 'oauth_client' as const, id: 'client_1' } },
    ])
      assert.notEqual(commitmentOf(other), details_commitment);
    assert.notEqual(
      changeRecord('acct_1', { change, salt: randomBytes(32) }).details_commitment,
      details_commitment,
    );
  });

  it('is made of any text, as a reader of its JSON has that', () => {
    assert.equal(changeDetails(change).before?.['description'], 'half \ufffd');
    assert.match(commitmentOf(change) ?? '', /^[\da-f]{64}$/);
  });

  it('commits to nothing without its salt', () => {
    assert.equal(changeRecord('acct_1', { change, salt: undefined }).details_commitment, undefined);
  });
});
