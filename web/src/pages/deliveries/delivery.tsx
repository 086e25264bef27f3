import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import { type Delivery as DeliveryType, isOpen } from '../../api/types.js';
import { TemporalLink } from '../../parts/deliveries/temporal-link.js';
import { titleOf } from '../../parts/deliveries/title.js';
import { EndpointName } from '../../parts/endpoints/endpoint-name.js';
import { Payload } from '../../parts/events/payload.js';
import { useEvent } from '../../parts/events/use-event.js';
import { useKinds } from '../../parts/kinds/use-kinds.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { DeliveryBadge, deliveryTone } from '../../ui/badge.js';
import { Copyable } from '../../ui/copy.js';
import { To, useRole } from '../../ui/link.js';
import { LIVE_MS } from '../../ui/list.js';
import { Loaded, Loading } from '../../ui/states.js';
import { Time, WithTimes } from '../../ui/time.js';
import { adviceFor } from './advice.js';
import { Attempts } from './attempts.js';
import { DeliveryActions } from './delivery-actions.js';
import { headlineOf, standsStill } from './headline.js';
import { Timeline } from './timeline.js';

/** The page of one delivery: what happened, why, and what comes next. */
export function Delivery() {
  const { id } = useParams({ strict: false }) as { id: string };
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: () => api.get('/v18.0/deliveries/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data.status) ? false : LIVE_MS),
  });
  const mayWrite = useMay('deliveries:write');
  const event = useEvent(`evt_${id.split('_')[1]}`);
  const kinds = useKinds().data ?? [];
  return (
    <Loaded query={delivery} lines={10} page>
      {(data) => (
        <>
          <PageHead
            title={titleOf(data.event_kind, event.data?.payload, kinds)}
            heading={
              <span className="row">
                {titleOf(data.event_kind, event.data?.payload, kinds)} <DeliveryBadge status={data.status} />
              </span>
            }
            crumbs={<To page="deliveries">Deliveries</To>}
            about={
              <>
                to <EndpointName id={data.endpoint_id} host />, accepted <Time at={data.created_at} />
              </>
            }
            actions={mayWrite && <DeliveryActions delivery={data} />}
          />
          <Verdict delivery={data} />
          <div className="columns">
            <div className="stack">
              <Attempts delivery={data} payload={event.data?.payloadText} />
              {event.data ? (
                <Payload event={event.data} />
              ) : (
                <Card title="Payload">
                  {event.error ? <p className="muted">The payload is no longer kept.</p> : <Loading />}
                </Card>
              )}
            </div>
            <div className="stack">
              <Facts delivery={data} />
              <Timeline id={id} delivery={data} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** Why the delivery is as it is, and what comes next: the answer of `explain`. */
function Verdict({ delivery }: { delivery: DeliveryType }) {
  const { endpoint_id, event_id, status, reason, next_attempt_at } = delivery;
  const verdict = useQuery({
    queryKey: ['verdict', delivery.id, status, delivery.attempts.length, next_attempt_at],
    queryFn: () => api.get('/v18.0/explain', { params: { query: { endpoint_id, event_id } } }),
    // A delivery at rest changes only by actions.
    refetchInterval: isOpen(status) ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
  const code = verdict.data?.code;
  const isStuck = standsStill(status, code);
  const tone = isStuck ? 'bad' : deliveryTone(status);
  const last = delivery.attempts.at(-1);
  const advice = !isStuck && last && adviceFor(last);
  const text = verdict.data?.summary ?? reason;
  return (
    <div className={`notice ${tone}`} role="status">
      <div>
        <strong>{headlineOf(delivery, code)}</strong>
        <p>
          <WithTimes text={text} />
        </p>
        {advice && status !== 'delivered' && <p>{advice}</p>}
      </div>
      {next_attempt_at && !isStuck && (
        <div className="next">
          Next attempt <Time at={next_attempt_at} show="relative" />
        </div>
      )}
    </div>
  );
}

function Facts({ delivery }: { delivery: DeliveryType }) {
  const role = useRole();
  return (
    <Card title="Delivery">
      <dl className="facts">
        <dt>Id</dt>
        <dd>
          <Copyable text={delivery.id} name="the id of the delivery" />
        </dd>
        <dt>Event</dt>
        <dd>
          <To page="events/$id" id={delivery.event_id}>
            <code>{delivery.event_id}</code>
          </To>
        </dd>
        <dt>Endpoint</dt>
        <dd>
          <EndpointName id={delivery.endpoint_id} />
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={delivery.started_at} />
        </dd>
        {delivery.closed_at && (
          <>
            <dt>Closed</dt>
            <dd>
              <Time at={delivery.closed_at} />
            </dd>
          </>
        )}
        {delivery.payload_bytes !== undefined && (
          <>
            <dt>Payload</dt>
            <dd>{delivery.payload_bytes} bytes</dd>
          </>
        )}
        {delivery.payload_sha256 && (
          <>
            <dt>SHA-256</dt>
            <dd>
              <code>{delivery.payload_sha256}</code>
            </dd>
          </>
        )}
        {role === 'desk' && (
          <>
            <dt>Temporal</dt>
            <dd>
              <TemporalLink workflowId={delivery.workflow_id} runId={delivery.run_id} />
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}
