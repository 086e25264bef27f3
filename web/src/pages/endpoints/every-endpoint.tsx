import { AccountLink } from '../../parts/account-link.js';
import { hostOf, kindsOf, nameOfEndpoint } from '../../parts/endpoints/names.js';
import { useEveryEndpoint } from '../../parts/endpoints/use-every-endpoint.js';
import { Card, PageHead } from '../../shell/page.js';
import { EndpointBadge, ListenerBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { List } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';

/** The page of the endpoints of all accounts. */
export function EveryEndpoint() {
  return (
    <>
      <PageHead title="Endpoints" about="Where events of all accounts are delivered, oldest first." />
      <Card bare>
        <List list={useEveryEndpoint()} empty={<Empty title="No endpoints yet" />}>
          {(rows) => (
            <Table head={['Endpoint', 'Account', 'Status', 'Event kinds', 'Since']}>
              {rows.map((endpoint) => (
                <tr key={endpoint.id} className="linked">
                  <td>
                    <To
                      page="endpoints/$id"
                      id={endpoint.id}
                      account={endpoint.account.id}
                      className="row-link"
                    >
                      {nameOfEndpoint(endpoint)}
                    </To>{' '}
                    <ListenerBadge endpoint={endpoint} />
                    <div className="muted small wrap">{hostOf(endpoint.target_url)}</div>
                  </td>
                  <td>
                    <AccountLink account={endpoint.account} />
                  </td>
                  <td>
                    <EndpointBadge endpoint={endpoint} />
                  </td>
                  <td className="wide muted">{kindsOf(endpoint)}</td>
                  <td className="muted">
                    <Time at={endpoint.created_at} show="relative" />
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
