import { condition, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { TIMINGS } from '../../src/domain/timings.js';
import type { ReleaseParkedInput } from '../inputs.js';
import { releaseAgain } from '../messages.js';

const { releaseParkedDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '1d',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Releases the backlog of an endpoint that takes deliveries again, or is gone: oldest first, at a rate that the
 * endpoint bears. It ends when nothing is left, or when the endpoint fails again: what is left then stays as it is
 * until the endpoint's next success.
 */
export async function releaseParked({ timings, ...input }: ReleaseParkedInput): Promise<void> {
  let again = false;
  let { retries } = input;
  const { release_passes_ms } = { ...TIMINGS, ...timings };
  setHandler(releaseAgain, (scope) => {
    again = true;
    retries ||= scope.retries;
  });
  do {
    again = false;
    const since = Date.now();
    for (const wait of [undefined, ...release_passes_ms]) {
      const summary = 'for attempts under way';
      if (wait !== undefined && (await condition(() => again, wait, { summary }))) break;
      const { stopped } = await releaseParkedDeliveries({ ...input, since, ...(retries && { retries }) });
      if (stopped) break;
    }
  } while (again);
}
