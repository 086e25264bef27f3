import assert from 'node:assert/strict';
import { MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { type GroupRange, GroupSeries, groupsOf, includes } from '../../../src/domain/ledger/group-series.js';
import { groupWorkflowId, isOfDeliveries } from '../../../src/domain/ledger/workflow-ids.js';
import type { PendingDelivery } from '../../../src/temporal/write/admission.js';
import { NumberedGroups } from '../../../src/temporal/write/once/numbered-groups.js';
import { delivery } from '../../support/parts/fake-starts.js';

describe('numbered groups', () => {
  function numbered(...fenced: number[]) {
    const series = new GroupSeries(MAX_GROUP_SIZE);
    const starts: [id: string, events: string[]][] = [];
    const eventsOf = (deliveries: readonly PendingDelivery[]) =>
      deliveries.map(({ event }) => event.event_id);
    const subject = new NumberedGroups(series, {
      async startAlone(deliveries) {
        starts.push(['alone', eventsOf(deliveries)]);
      },
      async startIfFree(deliveries, id) {
        const isFree = !fenced.some((number) => id.endsWith(`:${number}`));
        if (isFree) starts.push([id.replace(/.*:/, ''), eventsOf(deliveries)]);
        return isFree;
      },
    });
    return { series, starts, subject };
  }
  const named = (event: string, groups?: GroupRange) => ({ ...delivery({ event }), groups });

  it('are started under the numbers that were named for what is in them', async () => {
    const { series, starts, subject } = numbered();
    const early = series.ahead(0);
    await subject.startGroup([named('a', early), named('b')]);
    await subject.startGroup([named('c', early), named('d', series.ahead(0))]);
    assert.deepEqual(starts, [
      ['1', ['a', 'b']],
      ['2', ['c', 'd']],
    ]);
    const [first = ''] = groupsOf(early);
    assert.ok(isOfDeliveries(groupWorkflowId(first)), first);
  });

  it('leave out what no later group was named for, or another process’s was: it is started by itself', async () => {
    const { series, starts, subject } = numbered();
    const brief = { ...series.ahead(0), last: 1 };
    const foreign = new GroupSeries(MAX_GROUP_SIZE).ahead(0);
    await subject.startGroup([named('a'), named('b', brief)]);
    await subject.startGroup([named('c', brief), named('d'), named('e', foreign)]);
    assert.deepEqual(starts, [
      ['1', ['a', 'b']],
      ['2', ['d']],
      ['alone', ['c', 'e']],
    ]);
  });

  it('get the next number if one was fenced off, with those that may be in it', async () => {
    const { series, starts, subject } = numbered(1, 2);
    const range = series.ahead(0);
    await subject.startGroup([named('a', { ...range, last: 2 }), named('b', range), named('c')]);
    assert.deepEqual(starts, [
      ['3', ['b', 'c']],
      ['alone', ['a']],
    ]);
  });

  it('come in time also for those that join many others', () => {
    const series = new GroupSeries(MAX_GROUP_SIZE);
    const range = series.ahead(10 * MAX_GROUP_SIZE);
    for (let group = 0; group < 20; group += 1) assert.ok(includes(range, series.take().range));
    assert.throws(() => groupsOf({ ...range, last: 1e9 }), /more than a range has/);
  });
});
