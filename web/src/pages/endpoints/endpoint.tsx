import { useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Endpoint as EndpointType, Stats } from '../../api/types.js';
import { DeliveryTable } from '../../parts/deliveries/delivery-table.js';
import { useDeliveries } from '../../parts/deliveries/use-deliveries.js';
import { HistoryChart } from '../../parts/endpoints/history-chart.js';
import { nameOfEndpoint } from '../../parts/endpoints/names.js';
import { PeriodSelect } from '../../parts/endpoints/period-select.js';
import { formatRate, type Period, successRate, useStats } from '../../parts/endpoints/use-stats.js';
import { LIMITS } from '../../shell/look/read-meta.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { EndpointBadge, ListenerBadge } from '../../ui/badge.js';
import { Copyable } from '../../ui/copy.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { List } from '../../ui/list.js';
import { PageTabs } from '../../ui/page-tabs.js';
import { Empty, Loaded, Loading } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { EndpointActions } from './endpoint-actions.js';
import { EndpointFacts } from './endpoint-facts.js';
import { EndpointSettings } from './form/endpoint-settings.js';
import { Received } from './inbox.js';
import { parkLimitText } from './park-limit.js';
import { Registered, registeredNow } from './registered.js';
import { SecretPanel } from './secret/secret.js';
import { useEndpoint, Verification } from './verification.js';

/** The page of one endpoint, or what is shown of it right after its registration. */
export function Endpoint() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { registered } = useSearch({ strict: false }) as { registered?: boolean };
  const made = registeredNow(useQueryClient(), id);
  return registered && made ? <Registered endpoint={made} /> : <EndpointPage id={id} />;
}

function EndpointPage({ id }: { id: string }) {
  const endpoint = useEndpoint(id);
  const may = { write: useMay('endpoints:write'), secrets: useMay('secrets:read') };
  return (
    <Loaded query={endpoint} lines={10} page>
      {(data) => (
        <>
          <PageHead
            title={nameOfEndpoint(data)}
            heading={
              <span className="row">
                {nameOfEndpoint(data)} <EndpointBadge endpoint={data} /> <ListenerBadge endpoint={data} />
              </span>
            }
            crumbs={<To page="endpoints">Endpoints</To>}
            about={<Copyable text={data.target_url} name="the URL" />}
            actions={may.write && <EndpointActions endpoint={data} />}
          />
          <Trouble endpoint={data} />
          <PageTabs
            label="About this endpoint"
            tabs={[
              data.inbox === true && { name: 'received', text: 'Received', panel: <Received id={id} /> },
              { name: 'overview', text: 'Overview', panel: <Overview endpoint={data} /> },
              may.write && {
                name: 'settings',
                text: 'Settings',
                panel: (
                  <Card>
                    <EndpointSettings endpoint={data} />
                  </Card>
                ),
              },
              {
                name: 'secret',
                text: 'Secret and code',
                panel: (
                  <Card>
                    <SecretPanel endpoint={data} mayRead={may.secrets} mayRotate={may.write} />
                  </Card>
                ),
              },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

/** Why the endpoint receives nothing, or late. */
function Trouble({ endpoint }: { endpoint: EndpointType }) {
  const { status, status_reason, status_changed_at, incident } = endpoint;
  if (status === 'pending') return <Verification id={endpoint.id} />;
  if (status === 'paused' || status === 'disabled')
    return (
      <div className={status === 'paused' ? 'notice warn' : 'notice bad'}>
        <div>
          <strong>
            {status === 'paused' ? 'Paused' : 'Disabled'} since <Time at={status_changed_at} />.
          </strong>{' '}
          {status_reason} Its deliveries wait until it is resumed. {parkLimitText(LIMITS?.park_limit_ms)}
        </div>
      </div>
    );
  if (!incident) return null;
  return (
    <div className="notice bad">
      <div>
        <strong>
          Failing since <Time at={incident.since} />.
        </strong>
        <p>
          {incident.failures !== undefined && incident.last_failure_at && (
            <>
              {formatCount(incident.failures)} {incident.failures === 1 ? 'attempt has' : 'attempts have'}{' '}
              failed. The last one {incident.last_failure},{' '}
              <Time at={incident.last_failure_at} show="relative" />.{' '}
            </>
          )}
          {incident.next_probe_at && (
            <>
              It is tried again <Time at={incident.next_probe_at} show="relative" />.{' '}
            </>
          )}
          {incident.disable_at && (
            <>
              It will be disabled <Time at={incident.disable_at} show="relative" /> unless it responds before.
            </>
          )}
        </p>
      </div>
    </div>
  );
}

function Overview({ endpoint }: { endpoint: EndpointType }) {
  const [period, setPeriod] = useState<Period>('24h');
  const stats = useStats(period, endpoint.id);
  const list = useDeliveries({ endpoint_id: endpoint.id }, 10);
  return (
    <div className="columns">
      <div className="stack">
        <Card title="Deliveries over time" actions={<PeriodSelect value={period} set={setPeriod} />}>
          {stats.data ? (
            <div className="stack">
              <Figures stats={stats.data} />
              <HistoryChart closed={stats.data.closed} period={period} />
            </div>
          ) : (
            <Loading lines={8} />
          )}
        </Card>
        <Card
          title="Latest deliveries"
          bare
          actions={
            <To page="deliveries" search={{ endpoint_id: endpoint.id }}>
              All deliveries
            </To>
          }
        >
          <List list={list} empty={<Empty title="Nothing has been delivered yet" />}>
            {(rows) => <DeliveryTable rows={rows} of="endpoint" />}
          </List>
        </Card>
      </div>
      <EndpointFacts endpoint={endpoint} />
    </div>
  );
}

function Figures({ stats: { open, closed } }: { stats: Stats }) {
  const rate = successRate(closed.by_status, open.by_status);
  return (
    <dl className="figures">
      <div>
        <dt className="muted small">Success rate</dt>
        <dd className="big number">{rate === undefined ? '–' : formatRate(rate)}</dd>
      </div>
      <div>
        <dt className="muted small">Open</dt>
        <dd className="big number">{open.deliveries}</dd>
      </div>
      <div>
        <dt className="muted small">Retrying</dt>
        <dd className="big number">{open.by_status.retrying}</dd>
      </div>
      <div>
        <dt className="muted small">Oldest open</dt>
        <dd className="big">
          {open.oldest_created_at ? <Time at={open.oldest_created_at} show="brief" /> : '–'}
        </dd>
      </div>
    </dl>
  );
}
