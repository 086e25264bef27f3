import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { type Delivery, isOpen, type Schemas, type TimelineItem } from '../../api/types.js';
import { Card } from '../../shell/page.js';
import { LIVE_MS } from '../../ui/list.js';
import { Loaded } from '../../ui/states.js';
import { Time, WithTimes } from '../../ui/time.js';

/** Everything that happened to a delivery, over all its runs. */
export function Timeline({ id, delivery }: { id: string; delivery: Delivery }) {
  const timeline = useQuery({
    queryKey: ['timeline', id, delivery.status, delivery.run_id],
    queryFn: () =>
      api.get('/v18.0/deliveries/{id}/timeline', { params: { path: { id } } }) as Promise<
        Schemas['Timeline']
      >,
    refetchInterval: isOpen(delivery.status) ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
  return (
    <Card title="Timeline" bare>
      <Loaded query={timeline}>
        {({ data }) => (
          <ol className="timeline">
            {withoutToldWaits(data).map((item) => (
              <li key={`${item.at} ${item.text}`} className={toneOf(item)}>
                <Time at={item.at} show="precise" />
                <WithTimes text={item.text} />
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Card>
  );
}

/**
 * Leaves out a wait that repeats why the attempt before it failed, and gives its time to the attempt: one entry for
 * each attempt.
 */
function withoutToldWaits(items: readonly TimelineItem[]): TimelineItem[] {
  const shown: TimelineItem[] = [];
  for (const item of items) {
    const last = shown.at(-1);
    if (item.type === 'wait' && last?.type === 'attempt' && item.next_attempt_at !== undefined) {
      shown[shown.length - 1] = { ...last, text: `${last.text} Next attempt at ${item.next_attempt_at}.` };
    } else shown.push(item);
  }
  return shown;
}

function toneOf({ type, status_code, status }: TimelineItem): string {
  if (type === 'attempt') return status_code !== undefined && status_code < 300 ? 'good' : 'bad';
  if (type === 'closed') return status === 'delivered' ? 'good' : 'bad';
  if (type === 'terminated') return 'bad';
  if (type === 'incident' || type === 'parked') return 'warn';
  return '';
}
