import type { DeliverySummary } from '../../api/types.js';
import { DeliveryBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { EndpointName } from '../endpoints/endpoint-name.js';

/** Which rows of a list are chosen. */
export interface Selection {
  has(id: string): boolean;
  /** Chooses some, or no longer. */
  set(ids: readonly string[], isChosen: boolean): void;
}

/**
 * Deliveries as rows.
 *
 * @param of what all of them have in common, and no row repeats
 * @param selection absent: rows cannot be chosen
 */
export function DeliveryTable({
  rows,
  of,
  selection,
}: {
  rows: DeliverySummary[];
  of?: 'endpoint' | 'event';
  selection?: Selection;
}) {
  const ids = rows.map(({ id }) => id);
  return (
    <Table
      head={[
        selection !== undefined && {
          name: 'Choose',
          content: (
            <input
              type="checkbox"
              aria-label="Choose all"
              checked={ids.every((id) => selection.has(id))}
              onChange={({ target }) => selection.set(ids, target.checked)}
            />
          ),
        },
        'Event',
        'Status',
        of !== 'endpoint' && 'Endpoint',
        'What happened',
        'Accepted',
      ]}
    >
      {rows.map((row) => (
        <tr key={row.id} className="linked">
          {selection && (
            <td className="choose">
              <input
                type="checkbox"
                aria-label={`Choose ${row.event_kind} of ${row.created_at}`}
                checked={selection.has(row.id)}
                onChange={({ target }) => selection.set([row.id], target.checked)}
              />
            </td>
          )}
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
          <WhatHappened row={row} />
        </tr>
      ))}
    </Table>
  );
}

/** The last cells of a row: why it is as it is, and when it was accepted. */
export function WhatHappened({ row }: { row: DeliverySummary }) {
  return (
    <>
      <td className="wide muted clip-cell">
        <div className="clip" title={row.reason}>
          <Reason row={row} />
        </div>
      </td>
      <td className="muted">
        <Time at={row.created_at} show="relative" />
      </td>
    </>
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
