import { useParams } from '@tanstack/react-router';
import { DeliveryTable } from '../../parts/deliveries/delivery-table.js';
import { useDeliveries } from '../../parts/deliveries/use-deliveries.js';
import { Payload } from '../../parts/events/payload.js';
import { useEvent } from '../../parts/events/use-event.js';
import { Card, PageHead } from '../../shell/page.js';
import { Copyable } from '../../ui/copy.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { List } from '../../ui/list.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';

/** The page of one event: what was sent, and to whom. */
export function Event() {
  const { id } = useParams({ strict: false }) as { id: string };
  const event = useEvent(id, true);
  const list = useDeliveries({ event_id: id });
  return (
    <Loaded query={event} lines={8} page>
      {(data) => (
        <>
          <PageHead
            title={data.kind}
            crumbs={<To page="deliveries">Deliveries</To>}
            about={
              <>
                <Copyable text={data.id} name="the id of the event" /> · accepted{' '}
                <Time at={data.created_at} />
              </>
            }
          />
          {data.fan_out && (
            <div className="notice info">
              {formatCount(data.fan_out.started)} of {formatCount(data.fan_out.total)} deliveries have been
              started.
            </div>
          )}
          <Card title="Deliveries" bare>
            <List
              list={list}
              empty={
                <Empty title="No endpoint was registered for it">
                  The event was accepted, and nobody wanted it.
                </Empty>
              }
            >
              {(rows) => <DeliveryTable rows={rows} of="event" />}
            </List>
          </Card>
          <Payload event={data} />
        </>
      )}
    </Loaded>
  );
}
