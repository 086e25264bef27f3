import type { DeliverySummary, ListedDelivery } from '../../api/types.js';
import { DeliveryBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { EndpointName } from '../endpoints/endpoint-name.js';
import { lastAttemptText, type WithLastAttempt } from './attempt-text.js';
import { keyText } from './title.js';

/** Further fields that these rows request. */
export const EXTRAS: ('last_attempt' | 'business_keys')[] = ['last_attempt', 'business_keys'];

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
  rows: ListedDelivery[];
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
          <EventCell row={row} />
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

/**
 * The kind of a row's event, and the business key that people know it by.
 *
 * @param account whose it is; absent: that of the page
 */
export function EventCell({
  row: { id, event_kind, business_keys = [] },
  account,
}: {
  row: Pick<ListedDelivery, 'id' | 'event_kind' | 'business_keys'>;
  account?: string;
}) {
  const [key] = business_keys;
  return (
    <td>
      <To page="deliveries/$id" id={id} account={account} className="row-link">
        {event_kind}
      </To>
      {key && <div className="muted small row-key">{keyText(key)}</div>}
    </td>
  );
}

/** The last cells of a row: how its latest attempt went, why it is as it is, and when it was accepted. */
export function WhatHappened({ row }: { row: DeliverySummary & WithLastAttempt }) {
  const last = lastAttemptText(row);
  return (
    <>
      <td className="wide muted clip-cell">
        {last && <div className="last-attempt number">{last}</div>}
        {!(last && row.status === 'delivered') && (
          <div className="clip" title={row.reason}>
            <Reason row={row} />
          </div>
        )}
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
