import type { Endpoint } from '../../api/types.js';
import { Card } from '../../shell/page.js';
import { Code, Copyable, toPrettyJson } from '../../ui/copy.js';
import { To, useRole } from '../../ui/link.js';
import { Time } from '../../ui/time.js';
import { optionsOf } from './form/delivery-options.js';
import { SCHEMES } from './secret/schemes.js';

/** Registration of an endpoint, beside its deliveries. */
export function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const role = useRole();
  const headers = Object.keys(endpoint.headers);
  const metadata = Object.entries(endpoint.metadata);
  const options = optionsOf(endpoint);
  return (
    <Card title="Registration">
      <div className="stack">
        <dl className="facts">
          <dt>Id</dt>
          <dd>
            <Copyable text={endpoint.id} name="the id" />
          </dd>
          <dt>Kinds</dt>
          <dd>{endpoint.event_kinds.includes('*') ? 'All' : endpoint.event_kinds.join(', ')}</dd>
          <dt>Rate limit</dt>
          <dd>{endpoint.rate_limit === undefined ? 'None' : `${endpoint.rate_limit} per second`}</dd>
          {endpoint.allowed_rate !== undefined && (
            <>
              <dt>Allowed</dt>
              <dd>{endpoint.allowed_rate} per minute</dd>
            </>
          )}
          {endpoint.retry_schedule && (
            <>
              <dt>Retries after</dt>
              <dd>{endpoint.retry_schedule.join(', ') || 'never'}</dd>
            </>
          )}
          {endpoint.ordering && (
            <>
              <dt>Order</dt>
              <dd>{orderOf(endpoint)}</dd>
            </>
          )}
          <dt>Signature</dt>
          <dd>{`${endpoint.signature_scheme}, ${SCHEMES[endpoint.signature_scheme].name}`}</dd>
          {headers.length > 0 && (
            <>
              <dt>Headers</dt>
              <dd>{headers.join(', ')}</dd>
            </>
          )}
          {metadata.map(([name, value]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          <dt>Verified</dt>
          <dd>{endpoint.verified_at ? <Time at={endpoint.verified_at} /> : 'Not asked for'}</dd>
          <dt>Registered</dt>
          <dd>
            <Time at={endpoint.created_at} />
          </dd>
          <dt>Changed</dt>
          <dd>
            <Time at={endpoint.updated_at} />, version {endpoint.version}
            {role === 'desk' && (
              <>
                {' '}
                (
                <To page="changes" search={{ resource: `endpoint:${endpoint.id}` }}>
                  changes
                </To>
                )
              </>
            )}
          </dd>
        </dl>
        {Object.keys(options).length > 0 && (
          <div className="stack tight">
            <h3>How deliveries are sent</h3>
            <Code text={toPrettyJson(options)} name="the settings" />
          </div>
        )}
        {endpoint.filter && (
          <div className="stack tight">
            <h3>Filter</h3>
            <Code text={toPrettyJson(endpoint.filter)} name="the filter" />
          </div>
        )}
      </div>
    </Card>
  );
}

function orderOf({ ordering, order_skip, order_skip_after }: Endpoint): string {
  const parts = [
    ordering === 'key' ? 'By key' : 'All events, one after the other',
    ...(order_skip === 'exhausted' ? ['what has failed for good is skipped'] : []),
    ...(order_skip_after === undefined ? [] : [`held up for at most ${order_skip_after}`]),
  ];
  return parts.join('; ');
}
