import type { DeliverySummary } from '../../api/types.js';
import { DeliveryBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { EndpointName } from '../endpoints/endpoint-name.js';

/** Deliveries as rows. @param of what all of them have in common, and no row repeats */
export function DeliveryTable({ rows, of }: { rows: DeliverySummary[]; of?: 'endpoint' | 'event' }) {
  return (
    <Table head={['Event', 'Status', of !== 'endpoint' && 'Endpoint', 'What happened', 'Accepted']}>
      {rows.map((row) => (
        <tr key={row.id} className="linked">
          <td>
            <To page="deliveries/$id" id={row.id} className="row-link">
              {row.event_kind}
            </To>
          </td>
          <td>
            <DeliveryBadge status={row.status} />
          </td>
          {of !== 'endpoint' && (
            <td className="wide">
              <EndpointName id={row.endpoint_id} />
            </td>
          )}
          <td className="wide muted clip-cell">
            <div className="clip" title={row.reason}>
              <Reason row={row} />
            </div>
          </td>
          <td className="muted">
            <Time at={row.created_at} show="relative" />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Why it is as it is; a time that comes next is shown as a time, in the reader's zone. */
function Reason({ row }: { row: DeliverySummary }) {
  const [before, after] = row.next_attempt_at ? row.reason.split(row.next_attempt_at) : [];
  if (before === undefined || after === undefined || row.next_attempt_at === undefined) return row.reason;
  return (
    <>
      {before.replace(/ at $/, ' ')}
      <Time at={row.next_attempt_at} show="relative" />
      {after}
    </>
  );
}
