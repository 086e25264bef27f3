import { api } from '../../api/client.js';
import type { Schemas } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { Confirm } from '../../ui/dialog.js';
import { To } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAct } from '../../ui/use-act.js';

type ScheduledEvent = Schemas['ScheduledEvent'];

/** The page of the events that wait for their time. */
export function Scheduled() {
  const mayCancel = useMay('events:write');
  const list = useList<ScheduledEvent>(
    ['scheduled'],
    (after) => api.get('/v18.0/scheduled_events', { params: { query: { limit: PAGE_SIZE, after } } }),
    true,
  );
  return (
    <>
      <PageHead
        title="Scheduled events"
        crumbs={<To page="events">Events</To>}
        about="Events that wait for their time, the latest first. Each is sent to the endpoints that it matches then."
      />
      <Card bare>
        <List list={list} empty={<Empty title="No event waits for its time" />}>
          {(rows) => (
            <Table head={['Event', 'Sent at', 'Endpoints', 'Accepted', 'Action']}>
              {rows.map((event) => (
                <tr key={event.id}>
                  <td>
                    {event.kind}
                    <div className="muted small">
                      <code className="wrap">{event.id}</code>
                    </div>
                  </td>
                  <td>
                    <Time at={event.deliver_at} />
                  </td>
                  <td className="muted">{event.named_endpoints?.join(', ') ?? 'All that it matches'}</td>
                  <td className="muted">
                    <Time at={event.created_at} show="relative" />
                  </td>
                  <td>{mayCancel && <Cancel event={event} />}</td>
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

function Cancel({ event: { id, kind } }: { event: ScheduledEvent }) {
  const { act } = useAct();
  return (
    <Confirm
      trigger={<button type="button" className="button small" aria-label={`Cancel ${id}`} />}
      label="Cancel"
      title="Cancel the event"
      action="Cancel the event"
      danger
      act={() =>
        act(
          () => api.delete('/v18.0/scheduled_events/{kind_or_id}', { params: { path: { kind_or_id: id } } }),
          'It will not be sent.',
          { quiet: true },
        )
      }
    >
      <p>The {kind} event is not sent, and its payload is deleted.</p>
    </Confirm>
  );
}
