import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import type { Replay as ReplayType } from '../../api/types.js';
import { TemporalLink } from '../../parts/deliveries/temporal-link.js';
import { describeReplay } from '../../parts/replays/describe.js';
import { Progress } from '../../parts/replays/replay-table.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { ReplayBadge } from '../../ui/badge.js';
import { Code, Copyable, toPrettyJson } from '../../ui/copy.js';
import { To, useRole } from '../../ui/link.js';
import { Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { useAct } from '../../ui/use-act.js';

/** How often a replay is asked for while it runs, milliseconds. */
const SOON_MS = 1_000;

const isOver = ({ closed_at }: ReplayType) => closed_at !== undefined;

/** The page of one replay: how far it is, and what can be done to it. */
export function Replay() {
  const { id } = useParams({ strict: false }) as { id: string };
  const role = useRole();
  const replay = useQuery({
    queryKey: ['replay', id],
    queryFn: () => api.get('/v18.0/replays/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : SOON_MS),
  });
  const mayWrite = useMay('deliveries:write');
  return (
    <Loaded query={replay} lines={8} page>
      {(data) => (
        <>
          <PageHead
            title={describeReplay(data)}
            heading={
              <span className="row">
                {describeReplay(data)} {data.state && <ReplayBadge state={data.state} />}
              </span>
            }
            crumbs={<To page="replays">Replays</To>}
            about={data.reason}
            actions={mayWrite && !isOver(data) && <ReplayActions replay={data} />}
          />
          <div className="columns">
            <div className="stack">
              <Card title="Progress">
                <div className="stack">
                  <Progress replay={data} full />
                  <dl className="figures">
                    {(['found', 'done', 'skipped', 'failed'] as const).map((name) => (
                      <div key={name}>
                        <dt className="muted small">{NAMES[name]}</dt>
                        <dd className="big number">{data[name] ?? '–'}</dd>
                      </div>
                    ))}
                  </dl>
                </div>
              </Card>
              {data.failures && data.failures.length > 0 && (
                <Card title="What failed" bare>
                  <table>
                    <tbody>
                      {data.failures.map((failure) => (
                        <tr key={failure.id}>
                          <td>
                            <To page="deliveries/$id" id={failure.id}>
                              <code className="wrap">{failure.id}</code>
                            </To>
                            <div className="muted">{failure.detail}</div>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Card>
              )}
              <Card title="What it acts on">
                <Code text={toPrettyJson(data.filter)} name="the filter" />
              </Card>
            </div>
            <Card title="Replay">
              <dl className="facts">
                <dt>Id</dt>
                <dd>
                  <Copyable text={data.id} name="the id" />
                </dd>
                <dt>Rate</dt>
                <dd>{data.rate} per second, at most</dd>
                <dt>Started</dt>
                <dd>
                  <Time at={data.created_at} />
                </dd>
                <dt>By</dt>
                <dd>
                  <code>{data.by}</code>
                </dd>
                {data.up_to && (
                  <>
                    <dt>Up to</dt>
                    <dd>
                      Events of <Time at={data.up_to} />
                    </dd>
                  </>
                )}
                {data.closed_at && (
                  <>
                    <dt>Ended</dt>
                    <dd>
                      <Time at={data.closed_at} />
                    </dd>
                  </>
                )}
                {role === 'desk' && (
                  <>
                    <dt>Temporal</dt>
                    <dd>
                      <TemporalLink workflowId={data.workflow_id} runId={data.run_id} />
                    </dd>
                  </>
                )}
              </dl>
            </Card>
          </div>
        </>
      )}
    </Loaded>
  );
}

const NAMES = { found: 'Found so far', done: 'Done', skipped: 'Skipped', failed: 'Failed' } as const;

function ReplayActions({ replay: { id, state } }: { replay: ReplayType }) {
  const { act, busy } = useAct();
  const params = { path: { id } };
  return (
    <>
      <button
        type="button"
        className="button danger"
        disabled={busy}
        onClick={() =>
          void act(
            () => api.post('/v18.0/replays/{id}/cancel', { params, body: {} }),
            'It is cancelled. What was done stays.',
          )
        }
      >
        Cancel
      </button>
      {state === 'paused' ? (
        <button
          type="button"
          className="button primary"
          disabled={busy}
          onClick={() =>
            void act(() => api.post('/v18.0/replays/{id}/resume', { params, body: {} }), 'It goes on.')
          }
        >
          Resume
        </button>
      ) : (
        <button
          type="button"
          className="button"
          disabled={busy}
          onClick={() =>
            void act(() => api.post('/v18.0/replays/{id}/pause', { params, body: {} }), 'It is paused.')
          }
        >
          Pause
        </button>
      )}
    </>
  );
}
