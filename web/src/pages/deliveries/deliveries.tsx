import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DeliveryTable, type Selection } from '../../parts/deliveries/delivery-table.js';
import { FilterBar } from '../../parts/deliveries/filter/filter-bar.js';
import { type DeliveryFilters, readDeliveryFilters } from '../../parts/deliveries/filters.js';
import { useDeliveries } from '../../parts/deliveries/use-deliveries.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay, useWhole } from '../../shell/use-session.js';
import { To, useRole } from '../../ui/link.js';
import { List } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { BulkActions } from './bulk-actions.js';
import { EveryDelivery } from './every-delivery.js';

const NONE: ReadonlySet<string> = new Set();

/** The page of all deliveries: of the account, or of all. */
export function Deliveries() {
  return useWhole() ? <EveryDelivery /> : <OwnDeliveries />;
}

function OwnDeliveries() {
  const role = useRole();
  const filters = readDeliveryFilters(useSearch({ strict: false }));
  const navigate = useNavigate();
  const list = useDeliveries(filters);
  const change = (search: DeliveryFilters) =>
    void navigate({ to: '/$role/deliveries', params: { role }, search, replace: true } as never);
  const filtered = Object.keys(filters).length > 0;
  const mayWrite = useMay('deliveries:write');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(NONE);
  const selection: Selection = {
    has: (id) => chosen.has(id),
    set: (ids, isChosen) =>
      setChosen(
        (before) => new Set(isChosen ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))),
      ),
  };
  const shown = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const chosenRows = shown.filter(({ id }) => chosen.has(id));
  return (
    <>
      <PageHead
        title="Deliveries"
        about="Each event on its way to each endpoint. Open ones first, then the latest closed."
        actions={
          <To page="replays/new" search={filters as Record<string, unknown>} className="button">
            Replay these
          </To>
        }
      />
      <FilterBar filters={filters} change={change} />
      {chosenRows.length > 0 && <BulkActions chosen={chosenRows} clear={() => setChosen(NONE)} />}
      <Card bare>
        <List
          list={list}
          empty={
            filtered ? (
              <Empty title="No delivery matches">
                <button type="button" className="button" onClick={() => change({})}>
                  Clear the filters
                </button>
              </Empty>
            ) : (
              <Empty title="Nothing has been delivered yet">
                <p>
                  As soon as an event is sent for one of your endpoints, its delivery appears here.{' '}
                  <To page="endpoints">Go to the endpoints</To> to register one, or to send a test event.
                </p>
              </Empty>
            )
          }
        >
          {(rows) => <DeliveryTable rows={rows} {...(mayWrite && { selection })} />}
        </List>
      </Card>
    </>
  );
}
