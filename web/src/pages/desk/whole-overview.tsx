import { useMemo } from 'react';
import type { InstallationStats } from '../../api/types.js';
import { formatMs } from '../../parts/deliveries/attempt-text.js';
import { formatRate } from '../../parts/endpoints/use-stats.js';
import { Card, PageHead } from '../../shell/page.js';
import { Badge } from '../../ui/badge.js';
import { BarChart } from '../../ui/chart.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { EveryIncident } from './incidents.js';
import { useWholeStats } from './use-whole-stats.js';

const OPEN = ['delivering', 'retrying', 'parked'];

/** The first page over all accounts: is it us, or them? */
export function WholeOverview() {
  const stats = useWholeStats();
  return (
    <>
      <PageHead
        title="Overview"
        about="All accounts: what waits, what was attempted in the last hour, and whether it is us or them."
      />
      <Loaded query={stats} lines={6}>
        {(data) => (
          <>
            <UsOrThem stats={data} />
            <Figures stats={data} />
            <Card title="Attempts, last hour">
              <Minutes lastHour={data.last_hour} />
            </Card>
            <div className="columns">
              <Card title="Backlog by account" bare>
                <ByAccount open={data.open} />
              </Card>
              <Card title="Backlog by endpoint" bare>
                <ByEndpoint open={data.open} />
              </Card>
            </div>
          </>
        )}
      </Loaded>
      <Card title="Failing endpoints" bare actions={<To page="incidents">All incidents</To>}>
        <EveryIncident />
      </Card>
    </>
  );
}

/** @param failing how many endpoints are; `undefined`: it is not known */
function answer({ isUs, failing }: { isUs: boolean; failing: number | undefined }): string {
  const endpoints = failing === 1 ? '1 endpoint is' : `${formatCount(failing ?? 0)} endpoints are`;
  if (isUs) return `It is us${failing ? `, and ${endpoints} failing` : ''}.`;
  if (failing) return `It is them: ${endpoints} failing.`;
  if (failing === 0) return 'All is well.';
  return 'Nothing is overdue. How many endpoints fail is not known at the moment.';
}

/** The answer in a sentence, and what it rests on. */
function UsOrThem({ stats: { health, open, failing_endpoints } }: { stats: InstallationStats }) {
  const down = Object.keys(health).filter((name) => health[name] !== 'ok');
  const isUs = down.length > 0 || open.overdue > 0;
  const tone = isUs ? 'bad' : failing_endpoints === 0 ? 'good' : 'warn';
  return (
    <div className={`notice ${tone}`} role="status">
      <div>
        <strong>{answer({ isUs, failing: failing_endpoints })}</strong>
        <p>
          {down.length > 0 && `Not ready: ${down.join(', ')}. `}
          {open.overdue > 0
            ? `${formatCount(open.overdue)} ${open.overdue === 1 ? 'delivery is' : 'deliveries are'} overdue: an attempt should have been made.`
            : 'No delivery is overdue.'}
        </p>
      </div>
      <ul className="row health" aria-label="What this process needs">
        {Object.entries(health).map(([name, state]) => (
          <li key={name}>
            <Badge tone={state === 'ok' ? 'good' : 'bad'}>
              {name} {state}
            </Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Figures({ stats: { open, last_hour } }: { stats: InstallationStats }) {
  const { succeeded, failed } = last_hour.attempts;
  const attempts = succeeded + failed;
  const arrival = last_hour.arrival_ms;
  return (
    <dl className="figures">
      <Figure name="Attempts that succeeded" note={`of ${formatCount(attempts)}, last hour`}>
        {attempts === 0 ? '–' : formatRate(succeeded / attempts)}
      </Figure>
      <Figure name="Arrival, median" note="after the event">
        {arrival ? formatMs(arrival.p50) : '–'}
      </Figure>
      <Figure name="Arrival, 95 %" note="after the event">
        {arrival ? formatMs(arrival.p95) : '–'}
      </Figure>
      <Figure
        name="Backlog"
        note={`${open.exact ? '' : 'at least; '}${formatCount(open.by_status.retrying)} retrying, ${formatCount(open.by_status.parked)} parked`}
      >
        {formatCount(open.deliveries)}
      </Figure>
      <Figure name="Oldest" note="of the backlog">
        {open.oldest_created_at ? <Time at={open.oldest_created_at} show="brief" /> : '–'}
      </Figure>
      <Figure name="Overdue" note="attempts that should have been made" late={open.overdue > 0}>
        {formatCount(open.overdue)}
      </Figure>
    </dl>
  );
}

function Figure({
  name,
  note,
  late = false,
  children,
}: {
  name: string;
  note: string;
  late?: boolean;
  children: React.ReactNode;
}) {
  return (
    <div className={`card figure${late ? ' late' : ''}`}>
      <dt>{name}</dt>
      <dd>
        {children}
        <small className="note">{note}</small>
      </dd>
    </div>
  );
}

function Minutes({ lastHour: { by_minute, attempts } }: { lastHour: InstallationStats['last_hour'] }) {
  const { times, series } = useMemo(
    () => ({
      times: by_minute.map(({ from }) => Date.parse(from) / 1_000),
      series: [
        { name: 'Succeeded', colour: '--good', values: by_minute.map(({ succeeded }) => succeeded) },
        { name: 'Failed', colour: '--bad', values: by_minute.map(({ failed }) => failed) },
      ],
    }),
    [by_minute],
  );
  const { succeeded, failed } = attempts;
  return (
    <figure>
      <BarChart
        times={times}
        series={series}
        label={`The last hour by the minute: ${formatCount(succeeded)} attempts succeeded, ${formatCount(failed)} failed`}
      />
      <figcaption className="chart-key">
        <span className="good">{formatCount(succeeded)} succeeded</span>
        <span className="bad">{formatCount(failed)} failed</span>
      </figcaption>
    </figure>
  );
}

function ByAccount({ open }: { open: InstallationStats['open'] }) {
  if (open.by_account.length === 0) return <Empty title="Nothing is open" />;
  return (
    <table>
      <tbody>
        {open.by_account.map(({ account, deliveries }) => (
          <tr key={account.id}>
            <td>
              <To page="overview" account={account.id}>
                {account.name || account.id}
              </To>
            </td>
            <OpenCount account={account.id} count={deliveries} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ByEndpoint({ open }: { open: InstallationStats['open'] }) {
  if (open.by_endpoint.length === 0) return <Empty title="Nothing is open" />;
  return (
    <table>
      <tbody>
        {open.by_endpoint.map(({ account, endpoint_id, endpoint_name, deliveries }) => (
          <tr key={`${account.id} ${endpoint_id}`}>
            <td>
              <To page="endpoints/$id" id={endpoint_id} account={account.id}>
                {endpoint_name ?? endpoint_id}
              </To>
              <div className="muted small">{account.name}</div>
            </td>
            <OpenCount account={account.id} search={{ endpoint_id }} count={deliveries} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many deliveries are open, with the way to them. @param search what they are narrowed down by besides */
function OpenCount({ account, search = {}, count }: { account: string; search?: object; count: number }) {
  return (
    <td className="right number">
      <To page="deliveries" account={account} search={{ ...search, status: OPEN }}>
        {formatCount(count)}
        <span className="visually-hidden"> open deliveries</span>
      </To>
    </td>
  );
}
