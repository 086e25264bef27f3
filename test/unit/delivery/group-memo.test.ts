import assert from 'node:assert/strict';
import { TypedSearchAttributes } from '@temporalio/common';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_EVENT_GROUP_SIZE, MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { MAX_SUMMARY_CHARACTERS } from '../../../src/domain/delivery/group-summary.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
} from '../../../src/domain/ledger/search-attributes.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import {
  type GroupMemo,
  hasKey,
  indexMembers,
  membersOf,
} from '../../../src/temporal/read/group/group-memo.js';

/** From this size of a memo on, the SDK logs TMPRL1103, bytes. */
const WARN_SIZE = 2 * 1024;

const someKeys = (count: number) =>
  Array.from({ length: count }, () => ({
    account_id: newId('account'),
    event_id: newId('event'),
    endpoint_id: newId('endpoint'),
  }));

describe('the memo of a group', () => {
  const keys = someKeys(MAX_GROUP_SIZE);
  const {
    attributes: { accounts, events, endpoints },
    memo: { members },
  } = indexMembers(keys);
  const memo: GroupMemo = { members, heads: keys.map((_, index) => index) };
  const group = (more: object, order = (ids: string[]) => ids) => ({
    workflowId: groupWorkflowId('group_1:1'),
    memo: { ...more },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: ACCOUNT_ATTRIBUTE, value: order(accounts) },
      { key: EVENT_ATTRIBUTE, value: order(events) },
      { key: ENDPOINT_ATTRIBUTE, value: order(endpoints) },
    ]),
  });

  it('names every delivery, in whatever order the search attributes come back', () => {
    assert.deepEqual(membersOf(group(memo)), keys);
    assert.deepEqual(membersOf(group(memo, (ids) => ids.toReversed())), keys);
  });

  it('stays below the size from which Temporal warns, however many accounts and endpoints there are', () => {
    assert.ok(JSON.stringify(memo).length < WARN_SIZE);
  });

  it('says which of its events have a business key', () => {
    const [first, second, third] = someKeys(3);
    assert.ok(first && second && third);
    const { attributes, memo } = indexMembers([
      { ...first, keys: ['k:shared', 'k:a'] },
      { ...second, keys: ['k:shared'] },
      third,
    ]);
    for (const order of [(ids: string[]) => ids, (ids: string[]) => ids.toReversed()]) {
      const keyed = {
        workflowId: groupWorkflowId('group_1:2'),
        memo,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ACCOUNT_ATTRIBUTE, value: order(attributes.accounts) },
          { key: EVENT_ATTRIBUTE, value: order(attributes.events) },
          { key: ENDPOINT_ATTRIBUTE, value: order(attributes.endpoints) },
        ]),
      };
      assert.deepEqual(membersOf(keyed), [first, second, third]);
      const withKey = (token: string): boolean[] =>
        [first, second, third].map(({ event_id }) => hasKey(keyed, token)(event_id));
      assert.deepEqual(withKey('k:shared'), [true, true, false]);
      assert.deepEqual(withKey('k:a'), [true, false, false]);
      assert.deepEqual(withKey('k:none'), [false, false, false]);
    }
  });

  it('stays below that size with a business key for each event, too', () => {
    const { memo: keyed } = indexMembers(keys.map((key, index) => ({ ...key, keys: [`k:${index}`] })));
    assert.ok(JSON.stringify({ ...memo, ...keyed }).length < WARN_SIZE);
  });

  it("stays below that size for the largest group of one event's deliveries, however they stand", () => {
    const [first] = someKeys(1);
    const ofOne = someKeys(MAX_EVENT_GROUP_SIZE).map(({ endpoint_id }) => ({ ...first, endpoint_id }));
    const { attributes, memo } = indexMembers(ofOne as typeof keys);
    const states = 'x'.repeat(MAX_SUMMARY_CHARACTERS);
    assert.ok(JSON.stringify({ ...memo, heads: [0], states }).length < WARN_SIZE);
    assert.ok(JSON.stringify(attributes.endpoints).length <= 4_096);
  });
});
