import { useQuery } from '@tanstack/react-query';
import type { Filter } from '../../../../../packages/payload-contract/src/filter/index.js';
import { api } from '../../../api/client.js';
import { formatCount } from '../../../ui/count.js';

/** Requests for one count: each examines some thousand events. */
const MOST_REQUESTS = 10;

/** Counts the events of the last day that an endpoint with these settings would have received. */
export function LastDay({ kinds, filter }: { kinds: readonly string[]; filter: Filter }) {
  const count = useQuery({
    queryKey: ['what_if', kinds, filter],
    queryFn: () => countLastDay(kinds, filter),
    enabled: false,
    retry: false,
  });
  return (
    <div className="stack">
      <div>
        <button
          type="button"
          className="button"
          disabled={count.isFetching || kinds.length === 0}
          onClick={() => void count.refetch()}
        >
          Count over the last day
        </button>
      </div>
      {count.error && <div className="notice warn">{count.error.message}</div>}
      {count.data && (
        <div className="notice" role="status">
          {textOf(count.data)}
        </div>
      )}
    </div>
  );
}

interface Counts {
  events: number;
  deliveries: number;
  unavailable: number;
  complete: boolean;
}

async function countLastDay(kinds: readonly string[], filter: Filter): Promise<Counts> {
  const counts: Counts = { events: 0, deliveries: 0, unavailable: 0, complete: false };
  // The same period in each request. It ends now, by the clock of the server.
  let period = {};
  let after: string | undefined;
  for (let request = 0; request < MOST_REQUESTS && !counts.complete; request += 1) {
    const body = { event_kinds: [...kinds], filter, ...period, ...(after !== undefined && { after }) };
    const answer = await api.post('/v18.0/what_if', { body });
    counts.events += answer.events;
    counts.deliveries += answer.deliveries.count;
    counts.unavailable += answer.left_out.payload_unavailable.count;
    counts.complete = answer.complete;
    period = { created_after: answer.from };
    after = answer.next;
  }
  return counts;
}

function textOf({ events, deliveries, unavailable, complete }: Counts): string {
  const least = complete ? '' : ' first';
  const unknown = unavailable === 0 ? '' : ` ${formatCount(unavailable)} cannot be judged any more.`;
  return `${formatCount(deliveries)} of the${least} ${formatCount(events)} events of the last day would have been delivered.${unknown}`;
}
