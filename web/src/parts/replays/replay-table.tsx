import type { Replay } from '../../api/types.js';
import { ReplayBadge } from '../../ui/badge.js';
import { formatCount } from '../../ui/count.js';
import { To } from '../../ui/link.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { describeReplay } from './describe.js';

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
          <td>{replay.state && <ReplayBadge state={replay.state} />}</td>
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
  const { done = 0, skipped = 0, failed = 0, found } = replay;
  if (found === undefined) return <span className="muted">Not known while Temporal is unavailable</span>;
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
        {formatCount(over)} of {formatCount(found)}
      </span>
    </span>
  );
}
