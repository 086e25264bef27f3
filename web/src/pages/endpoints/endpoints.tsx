import type { Endpoint, Stats } from '../../api/types.js';
import { useEndpoints } from '../../parts/endpoints/endpoint-name.js';
import { hostOf, kindsOf, nameOfEndpoint } from '../../parts/endpoints/names.js';
import { useFailing } from '../../parts/endpoints/use-failing.js';
import { formatRate, successRate, useStats } from '../../parts/endpoints/use-stats.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay, useWhole } from '../../shell/use-session.js';
import { EndpointBadge, ListenerBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { EveryEndpoint } from './every-endpoint.js';
import { MakeInbox } from './inbox.js';

/** The page of all endpoints: of the account, with how each is doing, or of all accounts. */
export function Endpoints() {
  return useWhole() ? <EveryEndpoint /> : <OwnEndpoints />;
}

function OwnEndpoints() {
  const endpoints = useEndpoints(true);
  const stats = useStats('24h');
  const failing = useFailing().data;
  const mayWrite = useMay('endpoints:write');
  const register = mayWrite && (
    <>
      <MakeInbox />
      <To page="endpoints/new" className="button primary">
        Register an endpoint
      </To>
    </>
  );
  return (
    <>
      <PageHead title="Endpoints" about="Where events are delivered." actions={register} />
      <Card bare>
        <Loaded query={endpoints} lines={6}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No endpoints yet">
                <p>Register the URL of your application that is to receive events.</p>
                {register}
              </Empty>
            ) : (
              <EndpointTable
                rows={rows.map((row) => failing?.find(({ id }) => id === row.id) ?? row)}
                stats={stats.data}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function EndpointTable({ rows, stats }: { rows: Endpoint[]; stats: Stats | undefined }) {
  return (
    <Table
      head={['Endpoint', 'Status', 'Event kinds', 'Delivered, last 24 hours', { name: 'Open', right: true }]}
    >
      {rows.map((endpoint) => {
        const closed = stats?.closed.by_endpoint.find((row) => row.endpoint_id === endpoint.id);
        const open = stats?.open.by_endpoint.find((row) => row.endpoint_id === endpoint.id);
        return (
          <tr key={endpoint.id} className="linked">
            <td>
              <To page="endpoints/$id" id={endpoint.id} className="row-link">
                {nameOfEndpoint(endpoint)}
              </To>{' '}
              <ListenerBadge endpoint={endpoint} />
              <div className="muted small wrap">{hostOf(endpoint.target_url)}</div>
            </td>
            <td>
              <EndpointBadge endpoint={endpoint} />
            </td>
            <td className="wide muted">{kindsOf(endpoint)}</td>
            <td>{stats && <Rate closed={closed?.by_status} open={open?.by_status} />}</td>
            <td className="right number">{stats && (open?.deliveries ?? 0)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

const NONE_CLOSED = { delivered: 0, exhausted: 0, expired: 0, cancelled: 0 };
const NONE_OPEN = { delivering: 0, retrying: 0, parked: 0 };

/** How much was delivered of what ended or has failed so far. */
export function Rate({
  closed = NONE_CLOSED,
  open = NONE_OPEN,
}: {
  closed: Stats['closed']['by_status'] | undefined;
  open: Stats['open']['by_status'] | undefined;
}) {
  const rate = successRate(closed, open);
  if (rate === undefined) return <span className="muted">–</span>;
  const tone = rate >= 0.99 ? 'good' : rate >= 0.9 ? 'warn' : 'bad';
  return (
    <span className="rate number">
      <progress className={`meter ${tone}`} max={1} value={rate} aria-label="Part that was delivered" />
      {formatRate(rate)}
    </span>
  );
}
