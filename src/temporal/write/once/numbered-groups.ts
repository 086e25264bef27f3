import { type GroupSeries, includes } from '../../../domain/ledger/group-series.js';
import type { PendingDelivery, Starts } from '../admission.js';
import type { StartCalls } from '../start-calls.js';

type Calls = Pick<StartCalls, 'startAlone' | 'startIfFree'>;

/**
 * Starts groups under the next numbers of a series. A delivery whose request may be repeated is put into a group only
 * if the group is one of those that were written down for it; if its turn comes later, it is started by itself, under
 * its own id, as a repeat would start it.
 */
export class NumberedGroups implements Starts {
  private readonly series: GroupSeries;
  private readonly calls: Calls;

  constructor(series: GroupSeries, calls: Calls) {
    this.series = series;
    this.calls = calls;
  }

  startAlone(deliveries: readonly PendingDelivery[]): Promise<void> {
    return this.calls.startAlone(deliveries);
  }

  async startGroup(deliveries: readonly PendingDelivery[]): Promise<void> {
    const late: PendingDelivery[] = [];
    for (let left = deliveries; left.length > 0; ) {
      const { id, range } = this.series.take();
      const inTime = left.filter(({ groups }) => groups === undefined || includes(groups, range));
      late.push(...left.filter((delivery) => !inTime.includes(delivery)));
      if (inTime.length === 0 || (await this.calls.startIfFree(inTime, id))) break;
      // Somebody has fenced the group off, who took this process for dead. Its other deliveries go into the next one.
      left = inTime;
    }
    if (late.length > 0) await this.calls.startAlone(late);
  }
}
