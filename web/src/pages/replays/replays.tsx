import { api } from '../../api/client.js';
import type { Replay } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { ReplayBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { describeReplay } from './describe.js';

/** The page of all replays. */
export function Replays() {
  const list = useList<Replay>(
    ['replays'],
    (after) => api.get('/v18.0/replays', { params: { query: { limit: PAGE_SIZE, after } } }),
    true,
  );
  const make = useMay('deliveries:write') && (
    <To page="replays/new" className="button primary">
      New replay
    </To>
  );
  return (
    <>
      <PageHead
        title="Replays"
        about="Acts on many deliveries at once. They go on by themselves, whatever happens to this page."
        actions={make}
      />
      <Card bare>
        <List
          list={list}
          empty={
            <Empty title="No replays yet">
              <p>Send what failed again, or what an endpoint missed: first as a dry run that only counts.</p>
              {make}
            </Empty>
          }
        >
          {(rows) => <ReplayTable rows={rows} />}
        </List>
      </Card>
    </>
  );
}

export function ReplayTable({ rows }: { rows: Replay[] }) {
  return (
    <Table head={['Replay', 'State', 'Progress', 'Started']}>
      {rows.map((replay) => (
        <tr key={replay.id} className="linked">
          <td>
            <To page="replays/$id" id={replay.id} className="row-link">
              {describeReplay(replay)}
            </To>
            {replay.reason && <div className="muted small">{replay.reason}</div>}
          </td>
          <td>
            <ReplayBadge state={replay.state} />
          </td>
          <td className="wide">
            <Progress replay={replay} />
          </td>
          <td className="muted">
            <Time at={replay.created_at} show="relative" />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** How far a replay is: of what it has found so far. */
export function Progress({ replay, full }: { replay: Replay; full?: boolean }) {
  const { done, skipped, failed, found } = replay;
  const over = done + skipped + failed;
  return (
    <span className={full ? 'stack tight' : 'rate number'}>
      <progress
        className={full ? 'meter full' : 'meter'}
        max={Math.max(found, 1)}
        value={found === 0 && replay.state === 'finished' ? 1 : over}
        aria-label="Progress"
      />
      <span className="number">
        {over} of {found}
      </span>
    </span>
  );
}
