import { useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import type { Schemas } from '../../api/types.js';
import { Filters } from '../../parts/deliveries/filter/filters.js';
import { KeyFilter } from '../../parts/deliveries/filter/key-filter.js';
import { KindFilter } from '../../parts/deliveries/filter/kind-filter.js';
import { PeriodFilter } from '../../parts/deliveries/filter/period-filter.js';
import { type DeliveryFilters, readDeliveryFilters } from '../../parts/deliveries/filters.js';
import { Card, PageHead } from '../../shell/page.js';
import { To, useRole } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';

type EventFilters = Pick<DeliveryFilters, 'event_kind' | 'key' | 'created_after' | 'created_before'>;

/** The page of the events of an account: what was posted, whether or not an endpoint wanted it. */
export function Events() {
  const role = useRole();
  const navigate = useNavigate();
  const { event_kind, key, created_after, created_before } = readDeliveryFilters(
    useSearch({ strict: false }),
  );
  const filters = present({ event_kind, key, created_after, created_before });
  const { event_kind: kind, ...others } = filters;
  const list = useList<Schemas['EventSummary']>(
    ['events', filters],
    (after) =>
      api.get('/v18.0/events', {
        params: { query: { ...others, ...(kind && { kind }), limit: PAGE_SIZE, after } },
      }),
    true,
  );
  const set = (more: { [Name in keyof EventFilters]: string | undefined }) =>
    void navigate({
      to: '/$role/events',
      params: { role },
      search: present({ ...filters, ...more }),
      replace: true,
    } as never);
  return (
    <>
      <PageHead
        title="Events"
        about="What was posted, whether or not an endpoint wanted it. Those with open deliveries first, then the latest."
        actions={
          <To page="events/scheduled" className="button">
            Scheduled events
          </To>
        }
      />
      <Filters count={Object.keys(filters).length}>
        <KindFilter kind={event_kind} change={(name) => set({ event_kind: name })} />
        <PeriodFilter
          filters={filters}
          change={({ created_after = '', created_before = '' }) => set({ created_after, created_before })}
        />
        <KeyFilter key={key ?? ''} value={key ?? ''} set={(next) => set({ key: next })} />
      </Filters>
      <Card bare>
        <List
          list={list}
          empty={
            <Empty title={Object.keys(filters).length > 0 ? 'No event matches' : 'No event was posted yet'} />
          }
        >
          {(rows) => (
            <Table head={['Event', 'Number', 'Id', 'Accepted']}>
              {rows.map((event) => (
                <tr key={event.id} className="linked">
                  <td>
                    <To page="events/$id" id={event.id} className="row-link">
                      {event.kind}
                    </To>
                  </td>
                  <td className="number muted">{event.sequence ?? ''}</td>
                  <td className="wide">
                    <code className="wrap muted">{event.id}</code>
                  </td>
                  <td className="muted">
                    <Time at={event.created_at} show="relative" />
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

/** The filters that are set. */
function present(filters: { [Name in keyof EventFilters]: string | undefined }): EventFilters {
  return Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== undefined && value !== ''),
  );
}
