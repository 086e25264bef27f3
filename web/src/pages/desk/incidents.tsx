import type { AccountOfRow, Endpoint, Stats } from '../../api/types.js';
import { AccountLink } from '../../parts/account-link.js';
import { hostOf, nameOfEndpoint } from '../../parts/endpoints/names.js';
import { useEveryEndpoint } from '../../parts/endpoints/use-every-endpoint.js';
import { useFailing } from '../../parts/endpoints/use-failing.js';
import { useStats } from '../../parts/endpoints/use-stats.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay, useWhole } from '../../shell/use-session.js';
import { ListenerBadge } from '../../ui/badge.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { List } from '../../ui/list.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useWholeStats } from './use-whole-stats.js';

/** The page of all endpoints that are failing, and what that causes. */
export function Incidents() {
  const whole = useWhole();
  return (
    <>
      <PageHead
        title="Incidents"
        about="An incident begins with an endpoint's first failure and ends with its next success. Open ones are shown; what they led to is among the changes."
        actions={
          <To page="changes" search={{ actor: 'incident' }} className="button">
            What incidents changed
          </To>
        }
      />
      <Card bare>{whole ? <EveryIncident /> : <OwnIncidents />}</Card>
    </>
  );
}

function OwnIncidents() {
  return <IncidentList stats={useStats('24h').data} />;
}

/** Endpoints of the account that are failing. @param stats how much waits because of each */
export function IncidentList({ stats }: { stats: Stats | undefined }) {
  const failing = useFailing();
  return (
    <Loaded query={failing}>
      {(rows) =>
        rows.length === 0 ? (
          NOBODY
        ) : (
          <Table head={['Endpoint', 'Last failure', 'Since', 'What waits', 'What comes next']}>
            {rows.map((endpoint) => (
              <IncidentRow
                key={endpoint.id}
                endpoint={endpoint}
                open={
                  stats?.open.by_endpoint.find(({ endpoint_id }) => endpoint_id === endpoint.id)?.deliveries
                }
              />
            ))}
          </Table>
        )
      }
    </Loaded>
  );
}

/** Endpoints of all accounts that are failing. */
export function EveryIncident() {
  const stats = useWholeStats().data;
  return (
    <List list={useEveryEndpoint('failing')} empty={NOBODY}>
      {(rows) => (
        <Table head={['Endpoint', 'Account', 'Last failure', 'Since', 'What waits', 'What comes next']}>
          {rows.map((endpoint) => (
            <IncidentRow
              key={endpoint.id}
              endpoint={endpoint}
              account={endpoint.account}
              open={
                stats?.open.by_endpoint.find(({ endpoint_id }) => endpoint_id === endpoint.id)?.deliveries
              }
            />
          ))}
        </Table>
      )}
    </List>
  );
}

const NOBODY = <Empty title="No endpoint is failing" />;

function IncidentRow({
  endpoint,
  account,
  open,
}: {
  endpoint: Endpoint;
  account?: AccountOfRow;
  /** Deliveries that wait because of it, if they are known. */
  open: number | undefined;
}) {
  const { id, incident } = endpoint;
  const mayRetry = useMay('deliveries:write');
  if (!incident) return null;
  const owner = account?.id;
  return (
    <tr className="linked">
      <td>
        <To page="endpoints/$id" id={id} account={owner} className="row-link">
          {nameOfEndpoint(endpoint)}
        </To>{' '}
        <ListenerBadge endpoint={endpoint} />
        <div className="muted small">{hostOf(endpoint.target_url)}</div>
      </td>
      {account && (
        <td>
          <AccountLink account={account} />
        </td>
      )}
      <td className="wide">
        {incident.last_failure ?? 'Not known while Temporal is unavailable'}
        {incident.failures !== undefined && incident.last_failure_at && (
          <div className="muted small">
            {formatCount(incident.failures)} {incident.failures === 1 ? 'failure' : 'failures'}, the last{' '}
            <Time at={incident.last_failure_at} show="relative" />
          </div>
        )}
      </td>
      <td className="muted">
        <Time at={incident.since} show="relative" />
      </td>
      <td className="wide links">
        {open ? (
          <>
            <To
              page="deliveries"
              account={owner}
              search={{ endpoint_id: id, status: ['retrying', 'parked', 'delivering'] }}
            >
              {open} {open === 1 ? 'delivery' : 'deliveries'}
            </To>
            {mayRetry && (
              <div>
                <To
                  page="replays/new"
                  account={owner}
                  search={{ endpoint_id: id, choice: 'retry' }}
                  className="small"
                >
                  Retry them
                </To>
              </div>
            )}
          </>
        ) : (
          <span className="muted">Nothing</span>
        )}
      </td>
      <td className="wide muted">
        {incident.next_probe_at && (
          <div>
            Probe <Time at={incident.next_probe_at} show="relative" />
          </div>
        )}
        {incident.disable_at && (
          <>
            Will be disabled <Time at={incident.disable_at} show="relative" />
          </>
        )}
      </td>
    </tr>
  );
}
