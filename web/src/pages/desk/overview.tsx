import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Replay, Stats } from '../../api/types.js';
import { EndpointName } from '../../parts/endpoints/endpoint-name.js';
import { HistoryChart } from '../../parts/endpoints/history-chart.js';
import { PeriodSelect } from '../../parts/endpoints/period-select.js';
import { formatRate, type Period, successRate, useStats } from '../../parts/endpoints/use-stats.js';
import { ReplayTable } from '../../parts/replays/replay-table.js';
import { Card, PageHead } from '../../shell/page.js';
import { useWhole } from '../../shell/use-session.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { List, useList } from '../../ui/list.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { IncidentList } from './incidents.js';
import { WholeOverview } from './whole-overview.js';

/** The operator's first page: what waits, what is late, what is failing; of all accounts, or of one. */
export function Overview() {
  return useWhole() ? <WholeOverview /> : <AccountOverview />;
}

function AccountOverview() {
  const [period, setPeriod] = useState<Period>('24h');
  const stats = useStats(period);
  const replays = useList<Replay>(
    ['replays', 'latest'],
    (after) => api.get('/v18.0/replays', { params: { query: { limit: 5, after } } }),
    true,
  );
  return (
    <>
      <PageHead title="Overview" about="What waits, what is late, and what fails." />
      <Loaded query={stats} lines={6}>
        {(data) => (
          <>
            <Backlog stats={data} />
            <div className="columns">
              <Card title="Deliveries that ended" actions={<PeriodSelect value={period} set={setPeriod} />}>
                <HistoryChart closed={data.closed} period={period} />
              </Card>
              <Card title="Open by endpoint" bare>
                <OpenByEndpoint open={data.open} />
              </Card>
            </div>
          </>
        )}
      </Loaded>
      <Card title="Failing endpoints" bare actions={<To page="incidents">All incidents</To>}>
        <IncidentList stats={stats.data} />
      </Card>
      <Card title="Latest replays" bare actions={<To page="replays">All replays</To>}>
        <List list={replays} empty={<Empty title="No replays yet" />}>
          {(rows) => <ReplayTable rows={rows.slice(0, 5)} />}
        </List>
      </Card>
    </>
  );
}

function Backlog({ stats: { open, closed } }: { stats: Stats }) {
  const rate = successRate(closed.by_status, open.by_status);
  return (
    <dl className="figures">
      <Figure name="Open" value={open.deliveries} note={open.exact ? '' : ' at least'} />
      <Figure name="Retrying" value={open.by_status.retrying} />
      <Figure name="Parked" value={open.by_status.parked} />
      <div className={`card figure${open.overdue > 0 ? ' late' : ''}`}>
        <dt>Overdue</dt>
        <dd>
          {formatCount(open.overdue)}{' '}
          {open.overdue_since && (
            <small>
              since <Time at={open.overdue_since} show="brief" />
            </small>
          )}
        </dd>
      </div>
      <div className="card figure">
        <dt>Oldest open</dt>
        <dd>{open.oldest_created_at ? <Time at={open.oldest_created_at} show="brief" /> : '–'}</dd>
      </div>
      <div className="card figure">
        <dt>Delivered so far</dt>
        <dd>{rate === undefined ? '–' : formatRate(rate)}</dd>
      </div>
    </dl>
  );
}

function Figure({ name, value, note = '' }: { name: string; value: number; note?: string }) {
  return (
    <div className="card figure">
      <dt>{name}</dt>
      <dd>
        {formatCount(value)}
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

/** How many rows of endpoints are shown. */
const SHOWN = 8;

function OpenByEndpoint({ open }: { open: Stats['open'] }) {
  if (open.by_endpoint.length === 0) return <Empty title="Nothing is open" />;
  return (
    <table>
      <tbody>
        {open.by_endpoint.slice(0, SHOWN).map(({ endpoint_id, deliveries }) => (
          <tr key={endpoint_id}>
            <td>
              <EndpointName id={endpoint_id} />
            </td>
            <td className="right number">
              <To page="deliveries" search={{ endpoint_id, status: ['delivering', 'retrying', 'parked'] }}>
                {formatCount(deliveries)}
                <span className="visually-hidden"> open deliveries</span>
              </To>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
