import type { Endpoint, Stats } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { ListenerBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { hostOf, nameOfEndpoint } from '../endpoints/names.js';
import { useFailing } from '../endpoints/use-failing.js';
import { useStats } from '../endpoints/use-stats.js';

/** The page of all endpoints that are failing, and what that causes. */
export function Incidents() {
  const stats = useStats('24h');
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
      <Card bare>
        <IncidentList stats={stats.data} />
      </Card>
    </>
  );
}

/** Endpoints that are failing. @param stats how much waits because of each */
export function IncidentList({ stats }: { stats: Stats | undefined }) {
  const failing = useFailing();
  return (
    <Loaded query={failing}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty title="No endpoint is failing" />
        ) : (
          <Table head={['Endpoint', 'Last failure', 'Since', 'What waits', 'What comes next']}>
            {rows.map((endpoint) => (
              <IncidentRow key={endpoint.id} endpoint={endpoint} stats={stats} />
            ))}
          </Table>
        )
      }
    </Loaded>
  );
}

function IncidentRow({ endpoint, stats }: { endpoint: Endpoint; stats: Stats | undefined }) {
  const { id, incident } = endpoint;
  if (!incident) return null;
  const open = stats?.open.by_endpoint.find((row) => row.endpoint_id === id);
  return (
    <tr className="linked">
      <td>
        <To page="endpoints/$id" id={id} className="row-link">
          {nameOfEndpoint(endpoint)}
        </To>{' '}
        <ListenerBadge endpoint={endpoint} />
        <div className="muted small">{hostOf(endpoint.target_url)}</div>
      </td>
      <td className="wide">
        {incident.last_failure}
        <div className="muted small">
          {incident.failures} {incident.failures === 1 ? 'failure' : 'failures'}, the last{' '}
          <Time at={incident.last_failure_at} show="relative" />
        </div>
      </td>
      <td className="muted">
        <Time at={incident.since} show="relative" />
      </td>
      <td className="wide">
        {open ? (
          <>
            <To page="deliveries" search={{ endpoint_id: id, status: ['retrying', 'parked', 'delivering'] }}>
              {open.deliveries} {open.deliveries === 1 ? 'delivery' : 'deliveries'}
            </To>
            <div>
              <To page="replays/new" search={{ endpoint_id: id, choice: 'retry' }} className="small">
                Retry them
              </To>
            </div>
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
        Disabled <Time at={incident.disable_at} show="relative" />
      </td>
    </tr>
  );
}
