import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import type { Erasure as ErasureType } from '../../api/types.js';
import { save } from '../../files/save.js';
import { Card, PageHead } from '../../shell/page.js';
import { Copyable, toPrettyJson } from '../../ui/copy.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { LIVE_MS } from '../../ui/list.js';
import { Failed, Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { ErasureBadge } from './erasure-badge.js';

const MEANING: Record<ErasureType['status'], string> = {
  waiting: 'It waits for open deliveries to end. Then the key is deleted.',
  erased: 'The key is deleted. It is complete when nothing about the person is open either.',
  complete: 'The key is deleted, and nothing about the person is open.',
};

/** The page of one erasure: how far it is, and its certificate. */
export function Erasure() {
  const { id } = useParams({ strict: false }) as { id: string };
  const erasure = useQuery({
    queryKey: ['erasure', id],
    queryFn: () => api.get('/v18.0/erasures/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data?.status === 'complete' ? false : LIVE_MS),
  });
  return (
    <Loaded query={erasure} lines={8} page>
      {(data) => (
        <>
          <PageHead
            title="Erasure"
            heading={
              <span className="row">
                Erasure <ErasureBadge status={data.status} />
              </span>
            }
            crumbs={<To page="erasures">Personal data</To>}
            about={<Copyable text={data.id} name="the id" />}
            actions={
              <button type="button" className="button primary" onClick={() => download(data)}>
                Download the certificate
              </button>
            }
          />
          {erasure.error && <Failed error={erasure.error} />}
          <div className="columns">
            <Card title="What it covers">
              <div className="stack">
                <p role="status">{MEANING[data.status]}</p>
                <dl className="figures">
                  {(['events', 'deliveries', 'open_deliveries'] as const).map((name) => (
                    <div key={name}>
                      <dt className="muted small">{NAMES[name]}</dt>
                      <dd className="big number">{formatCount(data.covered[name])}</dd>
                    </div>
                  ))}
                  <div>
                    <dt className="muted small">Cancelled</dt>
                    <dd className="big number">{formatCount(data.cancelled_deliveries)}</dd>
                  </div>
                </dl>
                <p className="muted small">What was kept of the person when it was asked for.</p>
              </div>
            </Card>
            <Card title="Certificate">
              <dl className="facts">
                <dt>Asked for</dt>
                <dd>
                  <Time at={data.requested_at} />
                </dd>
                <dt>By</dt>
                <dd>
                  <code>{data.requested_by}</code>
                </dd>
                <dt>Open ones</dt>
                <dd>{data.open === 'cancel' ? 'are cancelled' : 'end first'}</dd>
                <dt>Key</dt>
                <dd>
                  <code>{data.key.id}</code>, of <Time at={data.key.created_at} />
                </dd>
                <dt>Deleted</dt>
                <dd>{data.erased_at ? <Time at={data.erased_at} /> : 'Not yet'}</dd>
                <dt>Complete</dt>
                <dd>{data.completed_at ? <Time at={data.completed_at} /> : 'Not yet'}</dd>
              </dl>
            </Card>
          </div>
        </>
      )}
    </Loaded>
  );
}

const NAMES = { events: 'Events', deliveries: 'Deliveries', open_deliveries: 'Were open' } as const;

/** As the API answers it. */
function download(erasure: ErasureType): void {
  const content = new Blob([toPrettyJson(erasure), '\n'], { type: 'application/json' });
  save(content, `erasure-${erasure.id}.json`);
}
