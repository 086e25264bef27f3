import { useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import type { InstallationDelivery } from '../../api/types.js';
import { AccountLink } from '../../parts/account-link.js';
import { EventCell, EXTRAS, WhatHappened } from '../../parts/deliveries/delivery-table.js';
import { Filters } from '../../parts/deliveries/filter/filters.js';
import { PeriodFilter } from '../../parts/deliveries/filter/period-filter.js';
import { StatusMenu } from '../../parts/deliveries/filter/status-menu.js';
import { type DeliveryFilters, readDeliveryFilters } from '../../parts/deliveries/filters.js';
import { Card, PageHead } from '../../shell/page.js';
import { DeliveryBadge } from '../../ui/badge.js';
import { To, useRole } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';

/** The page of the deliveries of all accounts. */
export function EveryDelivery() {
  const role = useRole();
  const navigate = useNavigate();
  const { status, created_after, created_before } = readDeliveryFilters(useSearch({ strict: false }));
  const filters: DeliveryFilters = {
    ...(status && { status }),
    ...(created_after && { created_after }),
    ...(created_before && { created_before }),
  };
  const list = useList<InstallationDelivery>(
    ['every delivery', filters],
    (after) =>
      api.get('/v18.0/installation/deliveries', {
        params: { query: { ...filters, include: EXTRAS, limit: PAGE_SIZE, after } },
      }),
    true,
  );
  const change = (search: DeliveryFilters) =>
    void navigate({ to: '/$role/deliveries', params: { role }, search, replace: true } as never);
  return (
    <>
      <PageHead
        title="Deliveries"
        about="Of all accounts: open ones first, then the latest closed. Choose an account to filter by endpoint, or to replay."
      />
      <Filters count={[status, created_after ?? created_before].filter(Boolean).length}>
        <StatusMenu
          statuses={status ?? []}
          change={(next) => {
            const { status: _, ...rest } = filters;
            change({ ...rest, ...(next.length > 0 && { status: next }) });
          }}
        />
        <PeriodFilter
          filters={filters}
          change={(period) => change({ ...(status && { status }), ...period })}
        />
      </Filters>
      <Card bare>
        <List list={list} empty={<Empty title="No delivery matches" />}>
          {(rows) => (
            <Table head={['Event', 'Account', 'Status', 'Endpoint', 'What happened', 'Accepted']}>
              {rows.map((row) => (
                <tr key={row.id} className="linked">
                  <EventCell row={row} account={row.account.id} />
                  <td>
                    <AccountLink account={row.account} />
                  </td>
                  <td>
                    <DeliveryBadge status={row.status} />
                  </td>
                  <td>
                    <To page="endpoints/$id" id={row.endpoint_id} account={row.account.id} className="wrap">
                      {row.endpoint_name ?? <code>{row.endpoint_id}</code>}
                    </To>
                  </td>
                  <WhatHappened row={row} />
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}
